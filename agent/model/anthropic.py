"""The Messages API through its SDK: one request, one raw stream, no retries, every failure typed.

The SDK takes most of a second to import and is therefore loaded on first use, off the event loop;
`preload` starts that early. Next: `agent.model.wire` (JSON both ways), `agent.model.failures`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from agent.model.capabilities import known_capabilities, read_capabilities
from agent.model.client import (
    MessageStop,
    ModelCapabilities,
    ModelClient,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.failures import describe_html, from_connection, from_status, from_stream
from agent.model.wire import read_event, read_message, request_body

if TYPE_CHECKING:
    from types import ModuleType

    import httpx2
    from anthropic import AsyncAnthropic

OFFICIAL_HOSTS: Final = ("api.anthropic.com",)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a request waits, in seconds."""

    connect_s: float = 10.0
    silence_s: float = 90.0
    """Longest pause between bytes, also before the first one."""
    total_s: float = 600.0
    """For sending, and for waiting on a free connection."""


DEFAULT_TIMEOUTS: Final = Timeouts()


def preload() -> threading.Thread:
    """Start to import the SDK in a thread, so that the first request need not wait for it."""
    thread = threading.Thread(target=_sdk, name="sdk-import", daemon=True)
    thread.start()
    return thread


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
        api_key: goes before `auth_token` where both are given.
        auth_token: sent as a bearer token.
        headers: sent with every request.
        timeouts: how long to wait.
    """
    return AnthropicClient(
        _Connection(
            base_url=(base_url or "https://api.anthropic.com").rstrip("/"),
            api_key=api_key,
            auth_token=None if api_key else auth_token,
            headers=dict(headers or {}),
            timeouts=timeouts,
        )
    )


@dataclass(frozen=True, slots=True)
class _Connection:
    base_url: str
    api_key: str | None = field(repr=False)
    auth_token: str | None = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    timeouts: Timeouts

    @property
    def official(self) -> bool:
        return urlsplit(self.base_url).hostname in OFFICIAL_HOSTS


class AnthropicClient:
    """A `ModelClient` for the vendor's endpoint and for any server that speaks its API."""

    def __init__(self, connection: _Connection) -> None:
        """See `make_client`."""
        self._connection = connection
        self._client: AsyncAnthropic | None = None
        self._key_header = False
        self._capabilities: dict[str, ModelCapabilities] = {}

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Stream one response; see `ModelClient.stream`."""
        capabilities = self._capabilities.get(request.model) or known_capabilities(request.model)
        body = request_body(request, capabilities)
        headers = {"anthropic-beta": ",".join(request.betas)} if request.betas else {}
        try:
            events = self._attempt(body, headers)
            async for event in events:
                yield event
        except ModelError as error:
            if not self._may_try_key_header(error):
                raise
            # Older gateways want the key in a header of its own; nothing of an answer was seen yet.
            await self._use_key_header()
            async for event in self._attempt(body, headers):
                yield event

    async def capabilities(self, model: str) -> ModelCapabilities:
        """Ask the endpoint once per model; see `ModelClient.capabilities`."""
        if model not in self._capabilities:
            self._capabilities[model] = await self._ask_capabilities(model)
        return self._capabilities[model]

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Count the prompt's tokens; None where the endpoint cannot say."""
        capabilities = self._capabilities.get(request.model) or known_capabilities(request.model)
        body = request_body(request, capabilities)
        wanted = ("model", "messages", "system", "tools", "tool_choice", "thinking")
        sdk, client = await self._ready()
        try:
            counted = await client.post(
                "/v1/messages/count_tokens",
                cast_to=dict[str, Any],
                body={name: body[name] for name in wanted if name in body},
            )
        except (sdk.AnthropicError, ValueError):
            return None
        tokens = counted.get("input_tokens") if isinstance(counted, Mapping) else None
        return tokens if isinstance(tokens, int) else None

    async def aclose(self) -> None:
        """Release connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _attempt(
        self, body: dict[str, Any], headers: dict[str, str]
    ) -> AsyncIterator[ModelEvent]:
        sdk, client = await self._ready()
        import httpx2  # with the SDK, which loads it: 60 ms that no start-up should pay

        opening = client.messages.with_streaming_response.create(
            **body, stream=True, extra_headers=headers
        )
        phase_stream = False
        try:
            async with opening as response:
                phase_stream = True
                async for event in _events(sdk, response.http_response):
                    yield event
        except sdk.APIStatusError as error:
            raise from_status(error) from error
        except sdk.APIConnectionError as error:
            raise from_connection(error, self._connection.base_url) from error
        except httpx2.HTTPError as error:
            if not phase_stream:
                raise from_connection(error, self._connection.base_url) from error
            raise from_stream(error, self._connection.timeouts.silence_s) from error

    async def _ask_capabilities(self, model: str) -> ModelCapabilities:
        sdk, client = await self._ready()
        try:
            record = await client.get(
                f"/v1/models/{model}", cast_to=dict[str, Any], options={"timeout": 10.0}
            )
        except (sdk.AnthropicError, ValueError):
            return known_capabilities(model)
        return read_capabilities(model, record if isinstance(record, Mapping) else {})

    async def _ready(self) -> tuple[ModuleType, AsyncAnthropic]:
        sdk = await asyncio.to_thread(_sdk)
        if self._client is None:
            self._client = await asyncio.to_thread(_build, self._connection, self._key_header)
        return sdk, self._client

    def _may_try_key_header(self, error: ModelError) -> bool:
        return (
            error.status == 401
            and error.phase == "headers"
            and self._connection.api_key is not None
            and not self._connection.official
            and not self._key_header
        )

    async def _use_key_header(self) -> None:
        await self.aclose()
        self._key_header = True


def _sdk() -> ModuleType:
    import anthropic  # 0.75 s and 75 MB: only when a request is near

    # Its one-line warnings would go to the terminal, over the screen.
    logging.getLogger("anthropic").setLevel(logging.ERROR)
    return anthropic


def _build(connection: _Connection, key_header: bool) -> AsyncAnthropic:
    import anthropic  # loaded by now
    import httpx2

    timeouts = connection.timeouts
    headers: dict[str, Any] = dict(connection.headers)
    if key_header:
        headers |= {"Authorization": anthropic.Omit(), "x-api-key": connection.api_key}
    return anthropic.AsyncAnthropic(
        api_key=connection.api_key,
        auth_token=connection.auth_token,
        base_url=connection.base_url,
        default_headers=headers,
        max_retries=0,
        timeout=httpx2.Timeout(
            timeouts.total_s, connect=timeouts.connect_s, read=timeouts.silence_s
        ),
        # Our own spans cover model calls; twice would be once too often.
        open_telemetry=False,
    )


async def _events(sdk: ModuleType, response: httpx2.Response) -> AsyncIterator[ModelEvent]:
    """Yield the response's events.

    Raw records rather than the SDK's models: blocks must go back exactly as they came, and unknown
    kinds must not be mistaken for known ones.
    """
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream" and kind:
        for event in _whole(kind, await response.aread()):
            yield event
        return
    stopped = False
    async for record in sdk.AsyncStream.raw_events(response):
        if not record.data or record.event == "ping":
            continue
        try:
            data = json.loads(record.data)
        except ValueError as error:
            raise ModelError(
                "malformed", "The server sent an event that is no JSON.", phase="stream"
            ) from error
        event = read_event(record.event, data if isinstance(data, dict) else {})
        if event is not None:
            yield event
            stopped = stopped or isinstance(event, MessageStop)
        if stopped:
            break
    if not stopped:
        raise ModelError("cut", "The answer ended before it was complete.", phase="stream")


def _whole(content_type: str, body: bytes) -> list[ModelEvent]:
    if content_type == "application/json":
        try:
            message = json.loads(body)
        except ValueError:
            message = None
        if isinstance(message, dict):
            if message.get("type") == "error":
                read_event("error", message)
            return list(read_message(message))
    raise ModelError("malformed", describe_html(content_type, body), phase="headers")


if TYPE_CHECKING:
    _: ModelClient = make_client()
