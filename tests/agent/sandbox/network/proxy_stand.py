"""A real proxy and a real server on loopback, with a resolver that leads where a test wants."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

from agent.sandbox.network.call_tokens import USER, CallTokens
from agent.sandbox.network.host_gate import DecideHost, HostGate
from agent.sandbox.network.host_log import HostLog
from agent.sandbox.network.host_rules import HostRules, parse_host_rule
from agent.sandbox.network.proxy import FilteringProxy, ProxyLimits
from permissions.rule import RuleSource

GOOD = "good.test"
"""Allowed at the server's port, and leads to it."""
DENIED = "denied.good.test"
"""Denied, and leads there too."""


@dataclass
class Server:
    """Answers each request with its path, and remembers what arrived, byte by byte."""

    port: int = 0
    received: list[bytes] = field(default_factory=list)
    """One entry for each connection."""
    headers: str = ""
    """Further lines of the response."""
    status: str = "200 OK"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        index = len(self.received)
        self.received.append(b"")
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.received[index] += data
                if b"\r\n\r\n" in self.received[index] and self._is_whole(self.received[index]):
                    body = self.received[index].split(b" ", 2)[1]
                    writer.write(
                        f"HTTP/1.1 {self.status}\r\n{self.headers}Connection: close\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n".encode()
                        + body
                    )
                    await writer.drain()
                    break
        writer.close()

    @staticmethod
    def _is_whole(data: bytes) -> bool:
        head, _, body = data.partition(b"\r\n\r\n")
        lowered = head.lower()
        if b"chunked" in lowered:
            return body.endswith(b"0\r\n\r\n")
        _, found, rest = lowered.partition(b"content-length:")
        return not found or len(body) >= int(rest.split(b"\r\n")[0])


@dataclass
class Stand:
    """What a test talks to."""

    proxy: FilteringProxy
    port: int
    gate: HostGate
    log: HostLog
    calls: CallTokens
    server: Server
    names: dict[str, Sequence[str]]
    """What the resolver knows."""
    looked_up: list[str]

    async def until_connections(self, count: int) -> None:
        """Wait until the proxy serves that many."""
        while self.proxy.open_connections != count:  # noqa: ASYNC110 - it has no event for this
            await asyncio.sleep(0)

    def fill(self, text: str) -> bytes:
        """Return bytes for the wire; `PORT` is the server's port, a line ends with CR LF."""
        return text.replace("PORT", str(self.server.port)).replace("\n", "\r\n").encode("latin-1")

    async def send(self, data: bytes) -> bytes:
        """Send all at once and return everything that the proxy answers."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            if b"CONNECT" in data[:7]:
                head = await reader.readuntil(b"\r\n\r\n")
                if head.startswith(b"HTTP/1.1 200"):
                    return head
                return head + await reader.read()
            return await reader.read()
        finally:
            writer.transport.abort()

    async def socks(self, address: bytes, *, credentials: bytes = b"", command: int = 1) -> bytes:
        """Run a SOCKS5 handshake and return the reply; `address` with its type, the server's
        port."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(b"\x05\x01\x02" + credentials if credentials else b"\x05\x01\x00")
            writer.write(bytes([5, command, 0]) + address + self.server.port.to_bytes(2, "big"))
            method = await reader.readexactly(2)
            if method[1] == 2:
                assert await reader.readexactly(2) == b"\x01\x00"
            reply = await reader.readexactly(10)
            if reply[1] == 0:
                writer.write(b"GET /through-socks HTTP/1.1\r\n\r\n")
                assert (await reader.read()).endswith(b"/through-socks")
            return reply
        finally:
            writer.transport.abort()


def rules(allow: Sequence[str] = (), deny: Sequence[str] = ()) -> HostRules:
    return HostRules(
        tuple(parse_host_rule(text, RuleSource.USER) for text in allow),
        tuple(parse_host_rule(text, RuleSource.USER) for text in deny),
    )


def credentials(token: str) -> str:
    return "Basic " + base64.b64encode(f"{USER}:{token}".encode()).decode()


@contextlib.asynccontextmanager
async def proxy_stand(
    *,
    limits: ProxyLimits | None = None,
    decide_host: DecideHost | None = None,
    env: Mapping[str, str] | None = None,
    wait_s: float = 60.0,
    allow: Sequence[str] = (f"{GOOD}:PORT", f"*.{GOOD}:PORT", "127.0.0.1:PORT"),
    deny: Sequence[str] = (DENIED,),
    requires_credentials: bool = False,
) -> AsyncIterator[Stand]:
    server = Server()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    named = [text.replace("PORT", str(server.port)) for text in allow]
    gate = HostGate(lambda: rules(named, deny), lambda: decide_host, wait_s=wait_s)
    calls, log = CallTokens(), HostLog()
    names: dict[str, Sequence[str]] = {
        GOOD: ["127.0.0.1"], DENIED: ["127.0.0.1"], f"www.{GOOD}": ["127.0.0.1"],
    }  # fmt: skip
    looked_up: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        looked_up.append(host)
        if host not in names:
            raise OSError("no such name")
        return names[host]

    proxy = FilteringProxy(
        gate,
        calls,
        log,
        env=env or {},
        limits=limits,
        resolve=resolve,
        requires_credentials=requires_credentials,
    )
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    port = listener.getsockname()[1]
    await proxy.serve(listener)
    try:
        yield Stand(proxy, port, gate, log, calls, server, names, looked_up)
    finally:
        await gate.aclose()
        await proxy.aclose()
        listening.close()
        await listening.wait_closed()
