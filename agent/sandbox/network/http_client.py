"""The HTTP side of the proxy: CONNECT, and plain requests, one per connection."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final

from agent.sandbox.network.http_head import HttpHead, parse_head
from agent.sandbox.network.proxy_target import (
    CHUNK_BYTES,
    STATUSES,
    ProxyRefusal,
    ProxyTarget,
    Stream,
)
from permissions.base.text.late_pattern import compile_late

_CHUNK_LINE: Final = compile_late(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]*)?\r\n")
_MAX_LINE_BYTES: Final = 4096


class HttpClient:
    """A client that speaks HTTP."""

    def __init__(self, stream: Stream, first: bytes) -> None:
        """`first` holds the bytes that were read already."""
        self._reader = stream.reader
        self._writer = stream.writer
        self._first = first
        self._head: HttpHead | None = None

    @property
    def head(self) -> HttpHead:
        """The head of the request; available after `read_target`."""
        assert self._head is not None
        return self._head

    async def read_target(self) -> ProxyTarget:
        """Return the requested target. Raises ProxyRefusal, OSError and EOFError."""
        try:
            rest = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise ProxyRefusal("head-too-large", "the head of the request is too large") from None
        head = self._head = parse_head(self._first + rest)
        return ProxyTarget(head.host, head.port, head.token, not head.is_connect)

    async def accept(self) -> None:
        """Confirm the tunnel; sends nothing for a plain request. Raises OSError."""
        if self.head.is_connect:
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await self._writer.drain()

    async def refuse(self, refusal: ProxyRefusal) -> None:
        """Respond with the reason. Raises OSError."""
        self._writer.write(refusal_response(refusal))
        await self._writer.drain()

    async def send_body(self, server: asyncio.StreamWriter) -> int:
        """Forward the body, exactly as long as announced; return its length in bytes.

        Raises OSError, EOFError, and ProxyRefusal where the chunks are malformed.
        """
        if self.head.is_chunked:
            return await self._send_chunks(server)
        await self._send_exactly(self.head.content_length, server)
        return self.head.content_length

    async def _send_exactly(self, count: int, server: asyncio.StreamWriter) -> None:
        remaining = count
        while remaining:
            data = await self._reader.read(min(remaining, CHUNK_BYTES))
            if not data:
                raise EOFError
            server.write(data)
            await server.drain()
            remaining -= len(data)

    async def _send_chunks(self, server: asyncio.StreamWriter) -> int:
        total = 0
        while True:
            line = _CHUNK_LINE.fullmatch(await self._read_line())
            if line is None:
                raise ProxyRefusal("bad-request", "a chunk of the body is malformed")
            size = int(line[1], 16)
            server.write(b"%x\r\n" % size)
            if not size:
                break
            await self._send_exactly(size, server)
            if await self._reader.readexactly(2) != b"\r\n":
                raise ProxyRefusal("bad-request", "a chunk of the body has another length")
            server.write(b"\r\n")
            total += size
        # Trailers are not forwarded.
        server.write(b"\r\n")
        await server.drain()
        return total

    async def _read_line(self) -> bytes:
        try:
            line = await self._reader.readuntil(b"\r\n")
        except asyncio.LimitOverrunError:
            line = b""
        return line if len(line) <= _MAX_LINE_BYTES else b""


def refusal_response(refusal: ProxyRefusal) -> bytes:
    """Return the response that says why a connection is not made."""
    status = HTTPStatus(STATUSES.get(refusal.code, HTTPStatus.FORBIDDEN))
    body = f"agent-tui sandbox: {refusal.reason}\n".encode()
    lines = [
        f"HTTP/1.1 {status} {status.phrase}",
        f"X-Proxy-Error: {refusal.code}",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    if status is HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        lines.append('Proxy-Authenticate: Basic realm="agent-tui"')
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body
