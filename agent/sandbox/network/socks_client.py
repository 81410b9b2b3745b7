"""The SOCKS5 side of the proxy (RFC 1928, RFC 1929): CONNECT only."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Final

from agent.sandbox.network.call_tokens import USER
from agent.sandbox.network.host_name import HostName, InvalidHost, host_of_address, read_host
from agent.sandbox.network.proxy_target import ProxyRefusal, ProxyTarget, Stream

VERSION: Final = b"\x05"
_NO_CREDENTIALS, _PASSWORD, _NO_METHOD = 0, 2, 255
_IPV4, _NAME, _IPV6 = 1, 3, 4
_CONNECT: Final = 1
_ALLOWED: Final = 0
_REPLIES: Final = {"unreachable": 5, "name-not-resolved": 4, "bad-request": 1}
_NOT_ALLOWED: Final = 2


class SocksClient:
    """A client whose first byte was `VERSION`."""

    def __init__(self, stream: Stream) -> None:
        """The first byte is read already."""
        self._reader = stream.reader
        self._writer = stream.writer

    async def read_target(self) -> ProxyTarget:
        """Return the requested target. Raises ProxyRefusal, OSError and EOFError."""
        token = await self._read_token()
        version, command, _, kind = await self._reader.readexactly(4)
        if version != VERSION[0]:
            raise ProxyRefusal("bad-request", "the SOCKS request has another version")
        host = await self._read_host(kind)
        port = int.from_bytes(await self._reader.readexactly(2), "big")
        where = (host.text, port)
        if command != _CONNECT:
            raise ProxyRefusal("bad-request", "SOCKS allows CONNECT only here", where)
        if port == 0:
            raise ProxyRefusal("bad-request", "port 0 is not a port", where)
        return ProxyTarget(host, port, token)

    async def accept(self) -> None:
        """Confirm the connection. Raises OSError."""
        await self._reply(_ALLOWED)

    async def refuse(self, refusal: ProxyRefusal) -> None:
        """Send the refusal; the protocol has no field for a reason. Raises OSError."""
        await self._reply(_REPLIES.get(refusal.code, _NOT_ALLOWED))

    async def _read_token(self) -> str | None:
        count = (await self._reader.readexactly(1))[0]
        methods = await self._reader.readexactly(count)
        if _PASSWORD in methods:
            await self._send(VERSION + bytes([_PASSWORD]))
            return await self._read_password()
        if _NO_CREDENTIALS in methods:
            await self._send(VERSION + bytes([_NO_CREDENTIALS]))
            return None
        await self._send(VERSION + bytes([_NO_METHOD]))
        raise ProxyRefusal("bad-request", "the SOCKS client offers no method known here")

    async def _read_password(self) -> str | None:
        """Return the token; other credentials are accepted but give None."""
        _, length = await self._reader.readexactly(2)
        user = await self._reader.readexactly(length)
        (length,) = await self._reader.readexactly(1)
        password = await self._reader.readexactly(length)
        await self._send(b"\x01\x00")
        return password.decode("latin-1") if user == USER.encode() else None

    async def _read_host(self, kind: int) -> HostName:
        if kind == _IPV4:
            return host_of_address(IPv4Address(await self._reader.readexactly(4)))
        if kind == _IPV6:
            return host_of_address(IPv6Address(await self._reader.readexactly(16)))
        if kind != _NAME:
            raise ProxyRefusal("bad-request", f"SOCKS has no address type {kind}")
        (length,) = await self._reader.readexactly(1)
        text = (await self._reader.readexactly(length)).decode("utf-8", "backslashreplace")
        try:
            return read_host(text)
        except InvalidHost as error:
            raise ProxyRefusal("bad-request", str(error), (text, 0)) from None

    async def _reply(self, code: int) -> None:
        await self._send(VERSION + bytes([code, 0, _IPV4]) + bytes(6))

    async def _send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
