"""A client for one provider of another dialect: one stream per request, `ModelError` on failure.

Next: `agent.model.dialects.wire_dialect` (what a dialect consists of), `agent.model.openai`,
`agent.model.gemini`.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from msgspec.structs import replace

from agent.model.capabilities import Override, apply_overrides
from agent.model.client import ModelCapabilities, ModelClient, ModelError, ModelEvent, ModelRequest
from agent.model.connection import error_body, open_stream
from agent.model.connection_pool import ConnectionPool
from agent.model.dialects.dialect_failures import response_failure
from agent.model.dialects.json_members import array, count, text
from agent.model.dialects.provider import Provider
from agent.model.dialects.wire_dialect import AnswerReader, WireDialect
from agent.model.endpoint_config import Endpoint, Timeouts
from agent.model.event_stream import drain, event_record, server_events, with_progress
from agent.model.failures import describe_html, from_connection, from_stream
from agent.model.message_builder import CallRepair
from agent.model.providers.model_table import foreign_capabilities
from agent.model.reports.ask import ask_server
from permissions.base.text.strict_json import load_json

if TYPE_CHECKING:
    import httpx2

DONE: Final = "[DONE]"


class WireClient:
    """A `ModelClient` for one provider."""

    def __init__(
        self,
        provider: Provider,
        endpoint: Endpoint,
        dialect: WireDialect,
        overrides: Mapping[str, Override],
    ) -> None:
        """Open nothing yet; `overrides` are capability settings by the provider's model name."""
        self.provider = provider
        self.endpoint = endpoint
        self._dialect = dialect
        self._overrides = overrides
        self._pool = ConnectionPool(endpoint)
        root = endpoint.base_url.rpartition("/")[0]
        self._root_pool = ConnectionPool(replace(endpoint, base_url=root))
        """For paths outside the API's, such as Ollama's `/api`."""
        self._capabilities: dict[str, ModelCapabilities] = {}

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Stream one response; see `ModelClient.stream`."""
        body = self._dialect.body(request, self.known_capabilities(request.model), self.provider)
        body.update(request.extra_body)
        if self._dialect.path(request.model).partition("?")[0].count(":") == 0:
            body["stream"] = True
        try:
            async with contextlib.aclosing(self._attempt(request, body)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            await self._pool.renew_after(error)
            raise

    def known_capabilities(self, model: str) -> ModelCapabilities:
        """Return what is known without asking; see `ModelClient.known_capabilities`."""
        base = foreign_capabilities(self.provider, model)
        return self._capabilities.get(model) or apply_overrides(base, self._overrides)

    async def capabilities(self, model: str) -> ModelCapabilities:
        """Ask the endpoint, once per model that it knows; see `ModelClient.capabilities`."""
        if model not in self._capabilities:
            base = foreign_capabilities(self.provider, model)
            if self.endpoint.dialect == "gemini":
                report = _google_limits(base, await self._pool.ask(f"/models/{quote(model)}"))
            else:
                report = await ask_server(self._query_path, model, base)
            if report is None:
                return self.known_capabilities(model)
            # Only the Messages API has thinking with a budget and cache marks.
            report = replace(report, budget_thinking=False, prompt_caching=False)
            self._capabilities[model] = apply_overrides(report, self._overrides)
        return self._capabilities[model]

    def learn_limits(self, model: str, window: int | None, output: int | None) -> None:
        """Store the context window and output limit, in tokens, from an endpoint's error."""
        self._capabilities[model] = self.known_capabilities(model).within(window, output)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return None: counting costs a request of the whole prompt, and few servers do it."""
        return None

    async def list_models(self) -> tuple[str, ...]:
        """Return the ids of the endpoint's models; empty if it does not list them."""
        answer = await self._pool.ask("/models") or {}
        if self.endpoint.dialect == "gemini":
            return tuple(
                text(each, "name").removeprefix("models/")
                for each in array(answer, "models")
                if "generateContent" in str(each.get("supportedGenerationMethods"))
            )
        return tuple(name for each in array(answer, "data") if (name := text(each, "id")))

    async def aclose(self) -> None:
        """Release connections."""
        await self._pool.aclose()
        await self._root_pool.aclose()

    async def _attempt(
        self, request: ModelRequest, body: Mapping[str, object]
    ) -> AsyncGenerator[ModelEvent, None]:
        path = self._dialect.path(request.model)
        async with self._pool.lease() as connection, contextlib.AsyncExitStack() as opening:
            import httpx2  # imported with the connection, as it takes 60 ms

            try:
                response = await open_stream(opening, connection, path, body, {})
            except httpx2.HTTPError as error:
                raise from_connection(error, self.endpoint.base_url) from error
            if not response.is_success:
                raise response_failure(response, await error_body(response))
            calls = CallRepair(request.messages)
            reader = self._dialect.reader(request, self.provider)
            try:
                events = _events(response, reader, self.endpoint.timeouts)
                async with contextlib.aclosing(events):
                    async for event in events:
                        yield calls.repair(event)
            except httpx2.HTTPError as error:
                raise from_stream(error, self.endpoint.timeouts.silence_s) from error

    async def _query_path(
        self, path: str, body: Mapping[str, object] | None
    ) -> Mapping[str, object] | None:
        """Query `/v1/…` below the base address, and other paths at a local server's root."""
        if path.startswith("/v1/"):
            return await self._pool.ask(path.removeprefix("/v1"), body)
        return await self._root_pool.ask(path, body) if self.provider.is_local else None


async def _events(
    response: httpx2.Response, reader: AnswerReader, timeouts: Timeouts
) -> AsyncGenerator[ModelEvent, None]:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "text/event-stream":
        for event in _unstreamed_events(kind, await response.aread(), reader):
            yield event
    else:
        records = with_progress(server_events(response.aiter_bytes()), timeouts.progress_s)
        async for record in records:
            if record.data.strip() == DONE:
                await drain(records)
                break
            for event in reader.read(event_record(record)):
                yield event
    for event in reader.end():
        yield event


def _unstreamed_events(
    content_type: str, body: bytes, reader: AnswerReader
) -> Iterator[ModelEvent]:
    """Yield the events of a response that was not streamed."""
    if content_type == "application/json":
        try:
            answer = load_json(body.decode("utf-8", "replace"))
        except ValueError:
            answer = None
        for each in answer if isinstance(answer, list) else [answer]:
            if isinstance(each, dict):
                yield from reader.whole(each)
        if answer is not None:
            return
    raise ModelError("malformed", describe_html(content_type, body), phase="headers")


def _google_limits(
    base: ModelCapabilities, record: Mapping[str, object] | None
) -> ModelCapabilities | None:
    if record is None:
        return None
    window = count(record, "inputTokenLimit") or base.context_window
    output = count(record, "outputTokenLimit") or base.max_output_tokens
    return replace(base, context_window=window, max_output_tokens=output, source="endpoint")


if TYPE_CHECKING:

    def _check_protocol(client: WireClient) -> ModelClient:
        return client
