"""The web socket by hand: its handshake, frames in pieces, pings, and what ends it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from agent.mcp.mcp_errors import ConnectFailed, NeedsSignIn
from agent.mcp.transport.message_channel import ChannelClosed
from agent.mcp.transport.web_socket import WebSocketChannel

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


@asynccontextmanager
async def serving(serve: Serve, *, status: int = 101) -> AsyncIterator[str]:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert "sec-websocket-protocol: mcp" in head
        assert "x-key: given" in head
        writer.write(f"HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n".encode())
        writer.close()

    async def upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(
            line.partition(":")[2].strip()
            for line in head.splitlines()
            if line.lower().startswith("sec-websocket-key:")
        )
        answer = base64.b64encode(hashlib.sha1(key.encode() + MAGIC).digest()).decode()
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {answer}\r\n\r\n".encode()
        )
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(upgrade if status == 101 else accept, "127.0.0.1", 0)
    async with server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


def frame(kind: int, data: bytes, *, is_last: bool = True) -> bytes:
    head = bytes([(0x80 if is_last else 0) | kind])
    if len(data) < 126:
        return head + bytes([len(data)]) + data
    if len(data) < 1 << 16:
        return head + bytes([126]) + struct.pack(">H", len(data)) + data
    return head + bytes([127]) + struct.pack(">Q", len(data)) + data


async def read_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    first, second = await reader.readexactly(2)
    assert second & 0x80, "what a client sends is masked"
    size = second & 0x7F
    if size == 126:
        (size,) = struct.unpack(">H", await reader.readexactly(2))
    elif size == 127:
        (size,) = struct.unpack(">Q", await reader.readexactly(8))
    mask = await reader.readexactly(4)
    data = await reader.readexactly(size)
    return first & 0x0F, bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))


@pytest.mark.parametrize("size", [0, 125, 126, 70_000])
async def test_messages_arrive_whole_both_ways(size: int) -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kind, data = await read_frame(reader)
        assert kind == 1
        half = len(data) // 2
        writer.write(frame(1, data[:half], is_last=False))
        writer.write(frame(9, b"still there?"))
        writer.write(frame(0, data[half:]))
        assert await read_frame(reader) == (10, b"still there?")
        assert (await read_frame(reader))[0] == 8

    async with serving(echo) as url:
        channel = await WebSocketChannel.connect(url, {})
        await channel.send({"text": "é" * size})
        assert json.loads(await channel.receive()) == {"text": "é" * size}
        await channel.aclose()


@pytest.mark.parametrize(
    "sent",
    [
        frame(8, b""),
        b"\x81\xff" + b"\xff" * 8,
        b"\x81\x7f" + struct.pack(">Q", 1 << 40),
        b"\x81",
    ],
)
async def test_what_is_wrong_ends_the_connection(sent: bytes) -> None:
    async def say(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)

    async with serving(say) as url:
        channel = await WebSocketChannel.connect(url, {})
        with pytest.raises(ChannelClosed):
            await channel.receive()
        await channel.aclose()


@pytest.mark.parametrize(("status", "error"), [(401, NeedsSignIn), (200, ConnectFailed)])
async def test_a_refused_handshake_is_reported(status: int, error: type[Exception]) -> None:
    async def never(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        raise AssertionError

    async with serving(never, status=status) as url:
        with pytest.raises(error):
            await WebSocketChannel.connect(url, {"X-Key": "given"})
