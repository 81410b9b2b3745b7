"""The HTTP client of one server: limits on responses, and a record of the last ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Final

import httpx2
from msgspec import Struct

from agent.mcp.transport.message_channel import MAX_MESSAGE_BYTES

CONNECT_S: Final = 15.0
ADDRESSES: Final = "agent_tui_addresses"
"""Request extension with the checked addresses to which the request may be sent."""
FIRST_BYTE_S: Final = 60.0
"""How long, in seconds, the response to a POST may take to begin; GET has no limit."""


class TrafficLog:
    """A record of one server's responses."""

    def __init__(self) -> None:
        """Start without a response."""
        self.error_status: int | None = None
        """Status of the last response if it was an error, else None; 202 and 204 do not count."""
        self.lost_session = False
        """Whether the server no longer knows the session."""

    def note(self, request: httpx2.Request, status: int) -> None:
        """Record a response."""
        if status == 404 and "mcp-session-id" in request.headers:
            self.lost_session = True
        if status >= 400:
            self.error_status = status
        elif status not in {202, 204}:
            self.error_status = None


class RemoteAccess(Struct, frozen=True):
    """How a remote server is reached."""

    headers: Mapping[str, str]
    traffic: TrafficLog
    auth: httpx2.Auth | None = None


class LimitedTransport(httpx2.AsyncBaseTransport):
    """Limits the size and start time of responses; a late one only fails its own request."""

    def __init__(
        self, inner: httpx2.AsyncBaseTransport, log: TrafficLog, first_byte_s: float
    ) -> None:
        """Requests go through `inner`."""
        self._inner = inner
        self._log = log
        self._first_byte_s = first_byte_s

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; a late response becomes status 504."""
        limit = self._first_byte_s if request.method == "POST" else None
        try:
            async with asyncio.timeout(limit):
                response = await self._send(request)
        except TimeoutError:
            return httpx2.Response(504, request=request)
        self._log.note(request, response.status_code)
        kind = response.headers.get("content-type", "").lower()
        if kind.startswith("text/event-stream"):
            return response
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _LimitedStream(response.stream)
        return response

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; if it names addresses, connect only to these."""
        addresses = request.extensions.get(ADDRESSES)
        if addresses is None:
            return await self._inner.handle_async_request(request)
        failure = httpx2.ConnectError("no address")
        for address in addresses:
            try:
                return await self._inner.handle_async_request(
                    httpx2.Request(
                        request.method,
                        request.url.copy_with(host=address),
                        headers=request.headers,
                        stream=request.stream,
                        extensions={**request.extensions, "sni_hostname": request.url.host},
                    )
                )
            except httpx2.ConnectError as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _LimitedStream(httpx2.AsyncByteStream):
    """A body that raises when it is too long."""

    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError(f"an answer of more than {MAX_MESSAGE_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def http_client(
    headers: Mapping[str, str],
    log: TrafficLog,
    *,
    auth: httpx2.Auth | None,
    timeout_s: float | None,
) -> httpx2.AsyncClient:
    """Return the client for one connection to one server.

    Args:
        timeout_s: The configured limit for one call, if any.
    """
    first_byte_s = max(FIRST_BYTE_S, timeout_s or 0.0)
    return httpx2.AsyncClient(
        headers=dict(headers),
        auth=auth,
        timeout=httpx2.Timeout(CONNECT_S, read=None, pool=None),
        transport=LimitedTransport(httpx2.AsyncHTTPTransport(), log, first_byte_s),
    )
