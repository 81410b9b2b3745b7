"""A web socket (RFC 6455): each message is one text message in one or more frames."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import struct
from collections.abc import Mapping
from typing import Final, Protocol

import httpcore2
import httpx2

from agent.mcp.mcp_errors import ConnectFailed, NeedsSignIn
from agent.mcp.transport.message_channel import MAX_MESSAGE_BYTES, ChannelClosed

_MAGIC: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_CHUNK: Final = 64 * 1024
CONNECT_S: Final = 15.0
CLOSE_S: Final = 1.0


class ByteStream(Protocol):
    """The connection below the frames."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return available data; empty at the end."""
        ...

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all data."""
        ...


class WebSocketChannel:
    """An open web socket."""

    def __init__(self, stream: ByteStream, stack: contextlib.AsyncExitStack) -> None:
        """The handshake is done; `stack` closes the connection."""
        self._stream = stream
        self._stack = stack
        self._buffer = bytearray()
        self._writing = asyncio.Lock()

    @classmethod
    async def connect(cls, url: str, headers: Mapping[str, str]) -> WebSocketChannel:
        """Open a connection; http means ws, and https means wss.

        Raises:
            ConnectFailed: the server cannot be reached, or does not support web sockets.
            NeedsSignIn: the server rejects the headers.
        """
        scheme, _, rest = url.partition("://")
        address = f"{'https' if scheme in {'wss', 'https'} else 'http'}://{rest}"
        key = base64.b64encode(os.urandom(16)).decode()
        request_headers = {
            **headers,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
            "Sec-WebSocket-Protocol": "mcp",
        }
        async with contextlib.AsyncExitStack() as stack:
            timeout = httpx2.Timeout(CONNECT_S, read=None, pool=None)
            client = await stack.enter_async_context(httpx2.AsyncClient(timeout=timeout))
            try:
                async with asyncio.timeout(CONNECT_S):
                    answer = await stack.enter_async_context(
                        client.stream("GET", address, headers=request_headers)
                    )
            except (httpx2.HTTPError, TimeoutError) as error:
                reason = str(error) or "no answer"
                raise ConnectFailed(f"it cannot be reached: {reason}", is_transient=True) from error
            if answer.status_code in {401, 403}:
                raise NeedsSignIn(f"it refuses the request (HTTP {answer.status_code})")
            accept = base64.b64encode(hashlib.sha1(key.encode() + _MAGIC).digest()).decode()
            if answer.status_code != 101 or answer.headers.get("sec-websocket-accept") != accept:
                raise ConnectFailed(f"it is not a web socket (HTTP {answer.status_code})")
            return cls(answer.extensions["network_stream"], stack.pop_all())
        raise AssertionError("a stack suppresses nothing")

    async def send(self, message: Mapping[str, object]) -> None:
        """Send a text message."""
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        await self._write(_TEXT, data)

    async def receive(self) -> bytes:
        """Return the next message. Raises ChannelClosed, also for one that is too long."""
        parts = bytearray()
        while True:
            is_last, kind, data = await self._frame(MAX_MESSAGE_BYTES - len(parts))
            match kind:
                case opcode if opcode == _CLOSE:
                    raise ChannelClosed("the server closed the connection")
                case opcode if opcode == _PING:
                    await self._write(_PONG, data)
                case opcode if opcode == _PONG:
                    pass
                case _:
                    parts += data
                    if is_last:
                        return bytes(parts)

    async def aclose(self) -> None:
        """Send a close frame and close the connection."""
        with contextlib.suppress(ChannelClosed, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._write(_CLOSE, struct.pack(">H", 1000))
        await self._stack.aclose()

    async def _frame(self, room: int) -> tuple[bool, int, bytes]:
        first, second = await self._bytes(2)
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", await self._bytes(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", await self._bytes(8))
        if second & 0x80 or size > room:
            raise ChannelClosed("the server sent a frame that is masked or too long")
        return bool(first & 0x80), first & 0x0F, await self._bytes(size)

    async def _bytes(self, count: int) -> bytes:
        while len(self._buffer) < count:
            try:
                data = await self._stream.read(_CHUNK)
            except (httpcore2.NetworkError, OSError) as error:
                raise ChannelClosed(str(error)) from error
            if not data:
                raise ChannelClosed("the connection ended")
            self._buffer += data
        content = bytes(self._buffer[:count])
        del self._buffer[:count]
        return content

    async def _write(self, kind: int, data: bytes) -> None:
        size = len(data)
        head = bytes([0x80 | kind])
        if size < 126:
            head += bytes([0x80 | size])
        elif size < 1 << 16:
            head += bytes([0x80 | 126]) + struct.pack(">H", size)
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", size)
        mask = os.urandom(4)
        async with self._writing:
            try:
                await self._stream.write(head + mask + _apply_mask(data, mask))
            except (httpcore2.NetworkError, OSError) as error:
                raise ChannelClosed(str(error)) from error


def _apply_mask(data: bytes, mask: bytes) -> bytes:
    size = len(data)
    key = (mask * (size // 4 + 1))[:size]
    whole = int.from_bytes(data, "big") ^ int.from_bytes(key, "big")
    return whole.to_bytes(size, "big")
