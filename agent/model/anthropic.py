"""A client for the Messages API: one raw stream per request, no retries, `ModelError` on failure.

It does not use the vendor's SDK, whose import takes longer than the rest of the start-up; tests
compare requests, streams and errors with it. Next: `agent.model.connection`,
`agent.model.event_stream`, `agent.model.wire` (JSON both ways), `agent.model.failures`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from agent.model.capabilities import (
    Override,
    apply_overrides,
    known_capabilities,
    read_capabilities,
)
from agent.model.client import (
    MessageStop,
    ModelCapabilities,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.connection import error_body, open_stream
from agent.model.connection_pool import ConnectionPool
from agent.model.endpoint_config import OFFICIAL_URL, Endpoint, Timeouts
from agent.model.event_stream import drain, event_record, server_events, with_progress
from agent.model.failures import describe_html, from_connection, from_status, from_stream
from agent.model.message_builder import CallRepair
from agent.model.wire import betas_of, read_event, read_message, request_body
from permissions.base.text.strict_json import load_json

if TYPE_CHECKING:
    import httpx2

MESSAGES: Final = "/v1/messages"
DEFAULT_TIMEOUTS: Final = Timeouts()


def make_client(
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    auth_token: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> AnthropicClient:
    """Return a client; nothing is imported, opened or sent yet.

    Args:
        base_url: without `/v1`; None for the vendor's own endpoint.
        api_key: takes precedence over `auth_token`.
        auth_token: sent as a bearer token.
        headers: sent with every request.
        timeouts: how long to wait.
    """
    return AnthropicClient(
        Endpoint(
            base_url=(base_url or OFFICIAL_URL).rstrip("/"),
            api_key=api_key,
            auth_token=None if api_key else auth_token,
            headers=dict(headers or {}),
            timeouts=timeouts,
        )
    )


class AnthropicClient:
    """A `ModelClient` for the vendor's endpoint and for any server that speaks its API."""

    def __init__(self, endpoint: Endpoint, overrides: Mapping[str, Override] | None = None) -> None:
        """See `make_client`; `overrides` are the user's capability settings by model name."""
        self._overrides = overrides or {}
        self.endpoint = endpoint
        self._pool = ConnectionPool(endpoint)
        self._capabilities: dict[str, ModelCapabilities] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one response; see `ModelClient.stream`."""
        try:
            async with contextlib.aclosing(self._attempt(request)) as events:
                async for event in events:
                    yield event
            return
        except ModelError as error:
            await self._pool.renew_after(error)
            if not self._may_try_key_header(error):
                raise
        # Older gateways expect the key in `x-api-key`; nothing of the response was yielded yet.
        await self._pool.renew(key_header=True)
        async with contextlib.aclosing(self._attempt(request)) as events:
            async for event in events:
                yield event

    async def capabilities(self, model: str) -> ModelCapabilities:
        """Ask the endpoint, once per model that it knows; see `ModelClient.capabilities`."""
        if model not in self._capabilities:
            report = await self._ask_capabilities(model)
            if report is None:
                return self.known_capabilities(model)
            self._capabilities[model] = apply_overrides(report, self._overrides)
        return self._capabilities[model]

    def known_capabilities(self, model: str) -> ModelCapabilities:
        """Return what is known without asking; see `ModelClient.known_capabilities`."""
        entry = self._capabilities.get(model)
        return entry or apply_overrides(known_capabilities(model), self._overrides)

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store the context window and output limit, in tokens, from an endpoint's error."""
        self._capabilities[model] = self.known_capabilities(model).within(window, output)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt's token count, or None if the endpoint does not count tokens."""
        body = request_body(request, self.known_capabilities(request.model))
        names = ("model", "messages", "system", "tools", "tool_choice", "thinking")
        question = {name: body[name] for name in names if name in body}
        record = await self._pool.ask("/v1/messages/count_tokens", question)
        tokens = record.get("input_tokens") if record is not None else None
        return tokens if isinstance(tokens, int) else None

    async def list_models(self) -> tuple[str, ...]:
        """Return the ids of the endpoint's models; empty if it does not list them."""
        record = await self._pool.ask("/v1/models")
        data = record.get("data") if record is not None else None
        models = data if isinstance(data, list) else []
        return tuple(str(each["id"]) for each in models if isinstance(each, dict) and "id" in each)

    async def use(self, endpoint: Endpoint) -> None:
        """Send later requests to `endpoint`; requests in progress finish on the old connections."""
        old, self._pool = self._pool, ConnectionPool(endpoint)
        if endpoint.base_url != self.endpoint.base_url:
            self._capabilities.clear()
        self.endpoint = endpoint
        await old.aclose()

    async def aclose(self) -> None:
        """Release connections."""
        await self._pool.aclose()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        body = request_body(request, self.known_capabilities(request.model))
        all_betas = (*request.betas, *betas_of(body))
        betas = () if "betas" in request.without else all_betas
        headers = {"anthropic-beta": ",".join(betas)} if betas else {}
        async with self._pool.lease() as connection, contextlib.AsyncExitStack() as opening:
            import httpx2  # imported with the connection, as it takes 60 ms

            try:
                stream_body = {**body, "stream": True}
                response = await open_stream(opening, connection, MESSAGES, stream_body, headers)
            except httpx2.HTTPError as error:
                raise from_connection(error, self.endpoint.base_url) from error
            if not response.is_success:
                raise from_status(response, await error_body(response))
            calls = CallRepair(request.messages)
            try:
                async with contextlib.aclosing(
                    message_events(response, self.endpoint.timeouts)
                ) as events:
                    async for event in events:
                        yield calls.repair(event)
            except httpx2.HTTPError as error:
                raise from_stream(error, self.endpoint.timeouts.silence_s) from error

    async def _ask_capabilities(self, model: str) -> ModelCapabilities | None:
        record = await self._pool.ask(f"/v1/models/{quote(model, safe='')}")
        report = None if record is None else read_capabilities(model, record)
        if self.endpoint.is_official or (report is not None and report.source == "endpoint"):
            return report
        from agent.model.reports.ask import ask_server  # only for other servers than the vendor's

        return (
            await ask_server(self._pool.ask, model, report or known_capabilities(model)) or report
        )

    def _may_try_key_header(self, error: ModelError) -> bool:
        return (
            error.status == 401
            and self.endpoint.api_key is not None
            and not self.endpoint.is_official
            and not self._pool.sends_key_header
        )


async def message_events(
    response: httpx2.Response, timeouts: Timeouts
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the response's events.

    Blocks, unknown kinds included, are not converted: later requests send them back unchanged.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "text/event-stream":
        for event in _unstreamed_events(kind, await response.aread()):
            yield event
        return
    records = with_progress(server_events(response.aiter_bytes()), timeouts.progress_s)
    async for record in records:
        next_event = read_event(record.name or None, event_record(record))
        if next_event is None:
            continue
        if isinstance(next_event, MessageStop):
            await drain(records)
            yield next_event
            return
        yield next_event
    raise ModelError("cut", "The answer ended before it was complete.", phase="stream")


def _unstreamed_events(content_type: str, body: bytes) -> list[ModelEvent]:
    """Return the events of a response that was not streamed."""
    if content_type == "application/json":
        try:
            message = load_json(body.decode("utf-8", "replace"))
        except ValueError:
            message = None
        if isinstance(message, dict):
            if message.get("type") == "error":
                read_event("error", message)
            return list(read_message(message))
    raise ModelError("malformed", describe_html(content_type, body), phase="headers")


if TYPE_CHECKING:
    _: ModelClient = make_client()
