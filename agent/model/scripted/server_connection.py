"""One HTTP/1.1 connection of the scripted server; detects that the client hangs up."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import Coroutine, Mapping
from http import HTTPStatus
from typing import Any, Final

from msgspec import Struct

MAX_HEAD_BYTES: Final = 64 * 1024


class HttpRequest(Struct, frozen=True):
    """One request, body included."""

    method: str
    target: str
    """Path and query."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]


class BadRequest(Exception):
    """The bytes are not an HTTP request that this server supports."""


class HungUp(Exception):
    """The client closed the connection while a response was being sent."""


class ServerConnection:
    """Reads requests and writes responses on one socket."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int
    ) -> None:
        """Take over the streams; `close` or `reset` ends them."""
        self.number = number
        self._reader = reader
        self._writer = writer
        self._ahead = b""
        """Bytes of the next request that `until_hang_up` read."""

    async def read_request(self) -> HttpRequest | None:
        """Return the next request; None if the client closed the connection.

        Raises:
            BadRequest: the bytes are not a request.
        """
        try:
            head = self._ahead + await self._reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        except asyncio.LimitOverrunError as error:
            raise BadRequest("header too large") from error
        self._ahead = b""
        first, *lines = head.decode("latin-1").split("\r\n")
        try:
            method, target, _version = first.split(" ")
            headers = {
                name.strip().lower(): value.strip()
                for name, _, value in (line.partition(":") for line in lines if line)
            }
            length = int(headers.get("content-length", "0"))
        except ValueError as error:
            raise BadRequest(f"no HTTP request: {first[:80]!r}") from error
        try:
            body = await self._reader.readexactly(length)
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        return HttpRequest(method, target, headers, body)

    async def send_head(
        self, status: int, headers: Mapping[str, str], *, length: int | None
    ) -> None:
        """Send the status line and headers; with no length the body is sent in chunks."""
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Overloaded" if status == 529 else "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines.append(
            "transfer-encoding: chunked" if length is None else f"content-length: {length}"
        )
        await self._write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    async def send_chunk(self, data: bytes) -> None:
        """Send one chunk of a body without a known length."""
        if data:
            await self._write(b"%x\r\n%s\r\n" % (len(data), data))

    async def send_raw(self, data: bytes) -> None:
        """Send bytes of a body with known length."""
        await self._write(data)

    async def end_chunks(self) -> None:
        """End a body without a known length."""
        await self._write(b"0\r\n\r\n")

    async def until_hang_up(self, work: Coroutine[Any, Any, None]) -> None:
        """Await `work`, but only while the client is connected.

        Raises:
            HungUp: the client closed its side first.
        """
        task = asyncio.ensure_future(work)
        watch = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and not watch.result():
                raise HungUp
            await task
        except ConnectionError as error:
            raise HungUp from error
        finally:
            for each in (task, watch):
                each.cancel()
            await asyncio.gather(task, watch, return_exceptions=True)
            if not watch.cancelled() and watch.exception() is None:
                # The client has already sent its next request.
                self._ahead += watch.result()

    async def close(self) -> None:
        """Close after what was written has been sent."""
        with contextlib.suppress(ConnectionError):
            self._writer.close()
            try:
                await self._writer.wait_closed()
            except asyncio.CancelledError:
                # The client has stopped reading, and the server is closing.
                self._writer.transport.abort()
                raise

    def reset(self) -> None:
        """Close so that the client sees a reset."""
        with contextlib.suppress(OSError, AttributeError):
            raw: socket.socket = self._writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def _write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError as error:
            raise HungUp from error
