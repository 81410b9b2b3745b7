"""The proxy that confined programs reach the network through: HTTP CONNECT, plain HTTP and SOCKS5.

One listener serves all three and tells them apart by the first byte. TLS is not decrypted, so that
only host and port of an HTTPS connection are known.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from agent.sandbox.network.address_check import HostResolver, Resolve
from agent.sandbox.network.call_tokens import UNKNOWN_CALL, CallTokens
from agent.sandbox.network.dial import dial
from agent.sandbox.network.host_gate import HostGate
from agent.sandbox.network.host_log import HostLog
from agent.sandbox.network.http_client import HttpClient, refusal_response
from agent.sandbox.network.proxy_target import CHUNK_BYTES, ProxyClient, ProxyRefusal, Stream
from agent.sandbox.network.socks_client import VERSION, SocksClient
from agent.sandbox.network.tunnel import Tunnel

LINGER_S: Final = 2.0
"""How long a closing connection may still send data, which is discarded, and receive a response."""


class ProxyLimits(Struct, frozen=True):
    """Limits for clients."""

    connections: int = 256
    """At once; one more is refused."""
    head_bytes: int = 64 * 1024
    head_s: float = 30.0
    """For receiving the whole head of a request."""
    idle_s: float = 600.0
    """A connection that transfers nothing for this long is closed."""


class FilteringProxy:
    """Serves one listener; a `HostGate` decides about every connection."""

    def __init__(
        self,
        gate: HostGate,
        calls: CallTokens,
        log: HostLog,
        *,
        env: Mapping[str, str],
        limits: ProxyLimits | None = None,
        resolve: Resolve | None = None,
        requires_credentials: bool = False,
    ) -> None:
        """Nothing is served before `serve`.

        Args:
            env: Names the machine's own proxy, if there is one.
            requires_credentials: For a listener that programs outside the sandbox can reach too.
        """
        self._gate = gate
        self._calls = calls
        self._log = log
        self._env = env
        self._limits = limits or ProxyLimits()
        self._resolver = HostResolver()
        self._resolve = resolve or self._resolver
        self._requires_credentials = requires_credentials
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @property
    def open_connections(self) -> int:
        """How many connections are served now."""
        return len(self._open)

    async def serve(self, listener: socket.socket) -> None:
        """Start accepting connections on a listening socket, which the proxy owns from now on."""
        listener.setblocking(False)
        self._server = await asyncio.start_server(
            self._on_connection,
            sock=listener,
            limit=self._limits.head_bytes,
            backlog=self._limits.connections,
        )

    async def aclose(self) -> None:
        """Close the listener and every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        self._resolver.close()
        # Transports report their end in the next iteration of the event loop.
        await asyncio.sleep(0)

    def _on_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._open) >= self._limits.connections:
            reason = f"more than {self._limits.connections} connections at once"
            writer.write(refusal_response(ProxyRefusal("too-many-connections", reason)))
            writer.close()
            return
        task = asyncio.ensure_future(self._serve(Stream(reader, writer)))
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        # Runs even if the task is cancelled before it starts.
        task.add_done_callback(lambda _: writer.transport.abort())

    async def _serve(self, stream: Stream) -> None:
        try:
            await self._handle(stream)
        except (OSError, EOFError):
            pass  # the client disconnected
        finally:
            await _close(stream)

    async def _handle(self, stream: Stream) -> None:
        client: ProxyClient | None = None
        call = UNKNOWN_CALL
        try:
            try:
                async with asyncio.timeout(self._limits.head_s):
                    first = await stream.reader.readexactly(1)
                    client = SocksClient(stream) if first == VERSION else HttpClient(stream, first)
                    target = await client.read_target()
            except TimeoutError:
                raise ProxyRefusal("too-slow", "the request did not arrive in time") from None
            known_call = self._calls.find(target.token)
            where = target.host.text, target.port
            if known_call is None and self._requires_credentials:
                raise ProxyRefusal("credentials-required", "the proxy needs credentials", where)
            call = known_call or UNKNOWN_CALL
            verdict = await self._gate.decide(target.host, target.port, call)
            if not verdict.is_allowed:
                raise ProxyRefusal(verdict.code, verdict.reason, where)
            connection = await dial(target, self._gate.rules, self._env, self._resolve)
        except ProxyRefusal as refusal:
            self._log.add("refused", refusal.where, call, (refusal.code, refusal.reason))
            await _refuse(client, stream, refusal)
            return
        why = verdict.code, verdict.reason
        self._log.add("allowed", where, call, why)
        tunnel = Tunnel(stream, connection.server, self._limits.idle_s)
        try:
            await client.accept()
            if isinstance(client, HttpClient) and target.is_plain_http:
                connection.server.writer.write(
                    client.head.encode(
                        authorization=connection.authorization, absolute=connection.is_another_proxy
                    )
                )
                await tunnel.exchange(client)
            else:
                await tunnel.relay()
        finally:
            traffic = tunnel.sent_bytes, tunnel.received_bytes
            self._log.add("closed", where, call, why, traffic)
            await _close(connection.server)


async def _refuse(client: ProxyClient | None, stream: Stream, refusal: ProxyRefusal) -> None:
    """Send the reason, then read until the client finishes, so that it receives the response."""
    if client is None:
        return
    await client.refuse(refusal)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            stream.writer.write_eof()
            while await stream.reader.read(CHUNK_BYTES):
                pass


async def _close(stream: Stream) -> None:
    """Close one end after flushing pending writes, for at most `LINGER_S` seconds."""
    try:
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(LINGER_S):
                stream.writer.close()
                await stream.writer.wait_closed()
    finally:
        stream.writer.transport.abort()
