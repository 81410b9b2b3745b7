"""The HTTP connections to one endpoint: shared by the SDK's client and by what needs no SDK.

Next: `agent.model.connection_pool`, `agent.model.anthropic` (speaks over them).
"""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, Literal, cast
from urllib.request import getproxies

from agent.model.client import ModelError
from agent.model.endpoint_config import Endpoint

if TYPE_CHECKING:
    from types import ModuleType

    import httpx2
    from anthropic import AsyncAnthropic

API_VERSION: Final = "2026-10-21"
"""The one the SDK speaks; a test compares them."""
USER_AGENT: Final = "agent-tui"

Trace = Callable[[str, Mapping[str, object]], Awaitable[None]]
"""Receives each step of a request, as the HTTP library names it."""

# A server that sends without end must not fill memory; the parser of events copies what it has so
# far with each piece, so a line without an end would also block the program.
MAX_BODY_BYTES: Final = 16_000_000
"""Largest answer that is no stream, such as an error; as it comes over the line."""

MAX_EVENT_BYTES: Final = 16_000_000
"""Largest single event of a stream, unpacked; those of real models stay below a megabyte."""

_ENDS: Final = (b"\n\n", b"\r\r", b"\r\n\r\n")


class Connection:
    """An endpoint's HTTP client and the headers that open its door."""

    def __init__(self, endpoint: Endpoint, *, key_header: bool) -> None:
        """Read certificates and proxies; connects to nothing yet. Takes tens of milliseconds.

        `key_header` sends the key as `x-api-key` rather than as a bearer token.

        Raises:
            ModelError: the endpoint has no credentials.
        """
        if not endpoint.api_key and not endpoint.auth_token:
            # Without either, the SDK would look for credentials in places of its own choosing.
            raise ModelError("not_configured", f"There is no API key for {endpoint.base_url}.")
        self.endpoint = endpoint
        self.key_header = key_header
        self.http = _http_client(endpoint)
        self._sdk_client: AsyncAnthropic | None = None

    async def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        trace: Trace | None = None,
    ) -> httpx2.Response:
        """Send one request as the SDK would; returns at the answer's headers, body unread.

        Raises:
            httpx2.HTTPError: no answer came.
            UnicodeEncodeError: the body holds half of a surrogate pair.
        """
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        request = self.http.build_request(
            method,
            f"{self.endpoint.base_url}{path}",
            content=content,
            headers={**self._headers(), **(headers or {})},
            extensions={"trace": trace} if trace is not None else None,
        )
        return await self.http.send(request, stream=True)

    def sdk_client(self, sdk: ModuleType) -> AsyncAnthropic:
        """Return the SDK's client over the same connections."""
        if self._sdk_client is None:
            endpoint = self.endpoint
            headers: dict[str, object] = {"User-Agent": USER_AGENT, **endpoint.headers}
            if self.key_header:
                headers |= {"Authorization": sdk.Omit(), "x-api-key": endpoint.api_key}
            self._sdk_client = sdk.AsyncAnthropic(
                api_key=endpoint.api_key,
                auth_token=None if endpoint.api_key else endpoint.auth_token,
                base_url=endpoint.base_url,
                default_headers=headers,
                max_retries=0,
                timeout=self.http.timeout,
                http_client=self.http,
                # Model calls have spans of our own; twice would be once too often.
                open_telemetry=False,
            )
        return self._sdk_client

    async def aclose(self) -> None:
        """Close what is open."""
        await self.http.aclose()

    def _headers(self) -> dict[str, str]:
        endpoint = self.endpoint
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "anthropic-version": API_VERSION,
        }
        if not self.key_header:
            headers["Authorization"] = f"Bearer {endpoint.api_key or endpoint.auth_token}"
        headers |= endpoint.headers
        if self.key_header and endpoint.api_key:
            headers["x-api-key"] = endpoint.api_key
        return headers


def _http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    import httpx2  # 60 ms that no start-up should pay

    timeout = httpx2.Timeout(
        endpoint.timeouts.total_s,
        connect=endpoint.timeouts.connect_s,
        read=endpoint.timeouts.silence_s,
    )
    transport: httpx2.AsyncHTTPTransport | None = None
    if endpoint.is_loopback:
        transport = httpx2.AsyncHTTPTransport(
            # A proxy from the environment can not reach a server on this machine.
            trust_env=False,
            # Without TLS there is nothing to verify, and no certificates to read.
            verify=endpoint.base_url.startswith("https:") and httpx2.create_ssl_context(),
        )
    elif not getproxies():
        transport = httpx2.AsyncHTTPTransport(socket_options=_keep_alive())
    return httpx2.AsyncClient(
        timeout=timeout,
        follow_redirects=False,
        transport=transport,
        event_hooks={"response": [bound_body]},
    )


def _keep_alive() -> list[tuple[int, int, int]]:
    """Return socket options that find out within some minutes that the other side is gone."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    idle = getattr(socket, "TCP_KEEPIDLE", getattr(socket, "TCP_KEEPALIVE", None))
    for option, value in (
        (idle, 60),
        (getattr(socket, "TCP_KEEPINTVL", None), 60),
        (getattr(socket, "TCP_KEEPCNT", None), 5),
    ):
        if option is not None:
            options.append((socket.IPPROTO_TCP, option, value))
    return options


async def bound_body(response: httpx2.Response) -> None:
    """Give the body of an answer an end, unless it is a stream of events; a response hook."""
    import httpx2  # loaded: there is an answer

    if response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    body = cast("httpx2.AsyncByteStream", response.stream)

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            taken = 0
            async for piece in body:
                taken += len(piece)
                if taken > MAX_BODY_BYTES:
                    raise _too_large("an answer", MAX_BODY_BYTES, "headers")
                yield piece

        async def aclose(self) -> None:
            await body.aclose()

    response.stream = Bounded()


class BoundedEvents:
    """A response whose events end, as far as the SDK's parser is concerned."""

    def __init__(self, response: httpx2.Response) -> None:
        """Nothing is read yet."""
        self._response = response

    async def aiter_bytes(self) -> AsyncGenerator[bytes, None]:
        """Yield the bytes of the stream. Raises ModelError where an event has no end."""
        held = 0
        tail = b""
        async for piece in self._response.aiter_bytes():
            # The end of an event may lie across two pieces.
            seen = tail + piece
            end = max(map(seen.rfind, _ENDS))
            held = held + len(piece) if end < 0 else len(seen) - end
            if held > MAX_EVENT_BYTES:
                raise _too_large("an event", MAX_EVENT_BYTES, "stream")
            tail = seen[-3:]
            yield piece


def _too_large(what: str, limit: int, phase: Literal["headers", "stream"]) -> ModelError:
    text = f"The server sent {what} of more than {limit // 1_000_000} MB."
    return ModelError("malformed", text, phase=phase)
