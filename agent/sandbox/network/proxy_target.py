"""The target of a proxy request, and its refusal, whatever the protocol."""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

from msgspec import Struct

from agent.sandbox.network.host_name import HostName

CHUNK_BYTES: Final = 64 * 1024

STATUSES: Final = {
    "bad-request": 400,
    "credentials-required": 407,
    "too-slow": 408,
    "head-too-large": 431,
    "name-not-resolved": 502,
    "unreachable": 502,
    "too-many-connections": 503,
}
"""HTTP statuses by code; 403 for the others."""


class ProxyTarget(Struct, frozen=True):
    """Where a client wants to connect."""

    host: HostName
    port: int
    token: str | None
    """Token of its call; None without credentials."""
    is_plain_http: bool = False


class ProxyRefusal(Exception):
    """A connection is refused; the code is one of `STATUSES`, `no-answer` or `blocked-by-…`."""

    def __init__(self, code: str, reason: str, where: tuple[str, int] = ("", 0)) -> None:
        """`where` is host and port as far as they are known; the host as the client wrote it."""
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.where = where


class Stream(Struct, frozen=True):
    """One end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class ProxyClient(Protocol):
    """A client of the proxy, in the protocol that it speaks."""

    async def read_target(self) -> ProxyTarget:
        """Return the requested target. Raises ProxyRefusal, OSError and EOFError."""
        ...

    async def accept(self) -> None:
        """Confirm the connection. Raises OSError."""
        ...

    async def refuse(self, refusal: ProxyRefusal) -> None:
        """Send the refusal. Raises OSError."""
        ...
