"""Relays bytes between a client and a server until both finish or the connection is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine

from agent.sandbox.network.http_client import HttpClient
from agent.sandbox.network.proxy_target import CHUNK_BYTES, Stream


class Tunnel:
    """One connection through the proxy."""

    def __init__(self, client: Stream, server: Stream, idle_s: float) -> None:
        """The tunnel ends after `idle_s` seconds without a byte in either direction."""
        self.sent_bytes = 0
        """From the client to the server, without the head of a plain request."""
        self.received_bytes = 0
        self._client = client
        self._server = server
        self._idle_s = idle_s
        self._timer = asyncio.timeout(None)

    async def relay(self) -> None:
        """Relay both directions; either end may finish first."""
        await self._run(self._send(), self._receive())

    async def exchange(self, client: HttpClient) -> None:
        """Send the body of a plain request, and relay the server's response.

        What the client sends after the body is dropped: each request needs its own connection.
        """

        async def send_body() -> None:
            self.sent_bytes += await client.send_body(self._server.writer)

        sending = asyncio.ensure_future(send_body())

        async def receive() -> None:
            await self._receive()
            sending.cancel()

        await self._run(sending, receive())

    async def _run(
        self,
        upwards: asyncio.Future[None] | Coroutine[object, object, None],
        downwards: Coroutine[object, object, None],
    ) -> None:
        tasks = [asyncio.ensure_future(upwards), asyncio.ensure_future(downwards)]
        self._timer = asyncio.timeout(self._idle_s)
        try:
            async with self._timer:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        except TimeoutError:
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self) -> None:
        while chunk := await self._client.reader.read(CHUNK_BYTES):
            self.sent_bytes += len(chunk)
            await self._pass_on(chunk, self._server)
        self._server.writer.write_eof()

    async def _receive(self) -> None:
        while chunk := await self._server.reader.read(CHUNK_BYTES):
            self.received_bytes += len(chunk)
            await self._pass_on(chunk, self._client)
        self._client.writer.write_eof()

    async def _pass_on(self, chunk: bytes, stream: Stream) -> None:
        stream.writer.write(chunk)
        await stream.writer.drain()
        if not self._timer.expired():
            self._timer.reschedule(asyncio.get_running_loop().time() + self._idle_s)
