"""The HTTP connections to one endpoint.

Next: `agent.model.connection_pool`, `agent.model.anthropic` (speaks over them).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Final, cast
from urllib.request import getproxies

from agent.model.client import ModelError
from agent.model.endpoint_config import Endpoint
from permissions.base.text.strict_json import without_surrogates

if TYPE_CHECKING:
    import httpx2

API_VERSION: Final = "2026-10-21"
"""The version that the vendor's SDK sends; a test compares them."""
USER_AGENT: Final = "agent-tui"

MAX_BODY_BYTES: Final = 16_000_000
"""Largest response body that is not an event stream, in bytes as sent, before decompression."""
MAX_ERROR_BYTES: Final = 1_000_000
"""How much of an error's body is read, before decompression; real ones are a few kilobytes."""


class Connection:
    """An endpoint's HTTP client and its authentication headers."""

    def __init__(self, endpoint: Endpoint, *, key_header: bool) -> None:
        """Read certificates and proxies, which takes tens of milliseconds; connect to nothing yet.

        `key_header` sends the key as `x-api-key` rather than as a bearer token.

        Raises:
            ModelError: the endpoint has no credentials.
        """
        if not endpoint.api_key and not endpoint.auth_token:
            raise ModelError("not_configured", f"There is no API key for {endpoint.base_url}.")
        self.endpoint = endpoint
        self.key_header = key_header
        self.http = http_client(endpoint)

    async def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> httpx2.Response:
        """Send one request; return once the response's headers have arrived, body unread.

        Raises:
            httpx2.HTTPError: no response arrived.
            UnicodeEncodeError: the body contains half of a surrogate pair.
        """
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        request = self.http.build_request(
            method,
            f"{self.endpoint.base_url}{path}",
            content=content,
            headers={**self._headers(), **(headers or {})},
        )
        return await self.http.send(request, stream=True)

    async def aclose(self) -> None:
        """Close the HTTP client."""
        await self.http.aclose()

    def _headers(self) -> dict[str, str]:
        endpoint = self.endpoint
        headers = {
            "Accept": "application/json",
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
        }
        key_name = "x-api-key" if self.key_header else "Authorization"
        if endpoint.dialect == "messages":
            headers["anthropic-version"] = API_VERSION
        elif endpoint.dialect == "gemini":
            key_name = "x-goog-api-key"
        if key_name == "Authorization":
            headers[key_name] = f"Bearer {endpoint.api_key or endpoint.auth_token}"
        headers |= endpoint.headers
        if key_name != "Authorization" and endpoint.api_key:
            headers[key_name] = endpoint.api_key
        return headers


async def open_stream(
    stack: contextlib.AsyncExitStack,
    connection: Connection,
    path: str,
    body: Mapping[str, object],
    headers: Mapping[str, str],
) -> httpx2.Response:
    """Post a body; return once the response's headers have arrived. The stack closes the response.

    Raises:
        httpx2.HTTPError: no response arrived.
    """
    try:
        response = await connection.send("POST", path, body, headers=headers)
    except UnicodeEncodeError:
        response = await connection.send("POST", path, without_surrogates(body), headers=headers)
    stack.push_async_callback(response.aclose)
    return response


async def error_body(response: httpx2.Response) -> bytes:
    """Return the body of an error, limited by `bound_body`; empty if it cannot be decompressed."""
    import httpx2  # already loaded with the client

    with contextlib.suppress(httpx2.DecodingError):
        return await response.aread()
    return b""


def http_client(endpoint: Endpoint) -> httpx2.AsyncClient:
    """Return a client with the endpoint's timeouts and limits; it follows no redirects."""
    import httpx2  # imported late, as it takes 60 ms

    silence_s = endpoint.timeouts.silence_s

    async def limit_body(response: httpx2.Response) -> None:
        await bound_body(response, silence_s)

    timeout = httpx2.Timeout(
        endpoint.timeouts.total_s,
        connect=endpoint.timeouts.connect_s,
        read=endpoint.timeouts.silence_s,
    )
    transport: httpx2.AsyncHTTPTransport | None = None
    if endpoint.is_loopback:
        transport = httpx2.AsyncHTTPTransport(
            # A proxy from the environment cannot reach a server on this machine.
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
        event_hooks={"response": [limit_body]},
    )


def _keep_alive() -> list[tuple[int, int, int]]:
    """Return socket options that detect a dead peer within a few minutes."""
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


async def bound_body(response: httpx2.Response, error_s: float) -> None:
    """Limit the size of a response body, unless it is an event stream.

    An error's status suffices, so its body ends without an exception after `error_s` seconds, where
    the connection breaks, or at `MAX_ERROR_BYTES`. Reading too large a body of any other response
    raises ModelError.
    """
    import httpx2  # already loaded with the client

    body = cast("httpx2.AsyncByteStream", response.stream)
    if response.is_error:
        pieces = _error_pieces(body, error_s)
    elif response.headers.get("content-type", "").startswith("text/event-stream"):
        return
    else:
        pieces = _bounded_pieces(body)

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for piece in pieces:
                yield piece

        async def aclose(self) -> None:
            await body.aclose()

    response.stream = Bounded()


async def _bounded_pieces(body: httpx2.AsyncByteStream) -> AsyncIterator[bytes]:
    total = 0
    async for piece in body:
        total += len(piece)
        if total > MAX_BODY_BYTES:
            limit = f"{MAX_BODY_BYTES // 1_000_000} MB"
            text = f"The server sent an answer of more than {limit}."
            raise ModelError("malformed", text, phase="headers")
        yield piece


async def _error_pieces(body: httpx2.AsyncByteStream, error_s: float) -> AsyncIterator[bytes]:
    import httpx2  # already loaded with the client

    remaining = MAX_ERROR_BYTES
    deadline = time.monotonic() + error_s
    pieces = aiter(body)
    with contextlib.suppress(StopAsyncIteration, TimeoutError, httpx2.TransportError):
        while remaining > 0:
            async with asyncio.timeout(deadline - time.monotonic()):
                piece = await anext(pieces)
            yield piece[:remaining]
            remaining -= len(piece)
