"""A local web server that receives the browser's redirect after a sign-in."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

PATH: Final = "/callback"
READ_S: Final = 10.0
_PAGE: Final = (
    "<!doctype html><meta charset=utf-8><title>agent-tui</title>"
    "<p>You can close this window and return to the terminal."
)
_ADDRESSES: Final = ("127.0.0.1", "::1")


class LoopbackReceiver:
    """Listens during a sign-in."""

    def __init__(self) -> None:
        """Listen only after `start`."""
        self._servers: list[asyncio.Server] = []
        self._urls: asyncio.Queue[str] = asyncio.Queue()
        self.port = 0

    @property
    def url(self) -> str:
        """The redirect URL for the browser."""
        return f"http://localhost:{self.port}{PATH}"

    async def start(self, port: int = 0) -> None:
        """Listen on a loopback port; 0 selects a free one. Raises OSError."""
        for address in _ADDRESSES:
            try:
                server = await asyncio.start_server(self._serve, address, self.port or port)
            except OSError:
                if address == _ADDRESSES[0]:
                    raise
                continue  # IPv6 is not available, or the port is in use there
            self._servers.append(server)
            self.port = int(server.sockets[0].getsockname()[1])

    async def receive(self) -> str:
        """Return the next URL that the browser requests."""
        return await self._urls.get()

    async def aclose(self) -> None:
        """Stop listening."""
        for server in self._servers:
            server.close()
        self._servers.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
            async with asyncio.timeout(READ_S):
                head = await reader.readuntil(b"\r\n")
                method, target, *_ = [*head.decode("ascii", "replace").split(" "), "", ""]
                is_ours = method == "GET" and target.partition("?")[0] == PATH
                status, page = ("200 OK", _PAGE) if is_ours else ("404 Not Found", "")
                body = page.encode()
                writer.write(
                    f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n"
                    f"content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
                if is_ours:
                    self._urls.put_nowait(f"http://localhost:{self.port}{target}")
        writer.close()
