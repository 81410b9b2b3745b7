"""How a user signs in: an address to open, and the address that the browser ends at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from agent.mcp.auth.loopback_receiver import LoopbackReceiver
from agent.mcp.mcp_errors import ConnectFailed
from permissions.base.network.web_address import web_host


class SignInSurface(Protocol):
    """Shows a sign-in to the user."""

    async def show(self, url: str) -> None:
        """Open an address in the browser, or show it. Only http and https arrive here."""
        ...

    async def read_pasted_address(self) -> str:
        """Return the address that the browser ended at, where the user pastes it; else wait."""
        ...


class Returned(Struct, frozen=True):
    """What the authorization server sent the browser back with."""

    code: str
    state: str | None
    issuer: str | None


class SignInAttempt:
    """One sign-in under way."""

    def __init__(self, surface: SignInSurface, receiver: LoopbackReceiver | None) -> None:
        """`receiver` takes what the browser is sent back to; None where that is pasted."""
        self._surface = surface
        self._receiver = receiver
        self.is_over = False
        """Whether there is no user any more to sign in."""
        self.redirect_uri = (
            receiver.url if receiver is not None else "http://localhost:3000/callback"
        )

    async def show(self, url: str) -> None:
        """Send the user to the authorization server. Raises ConnectFailed for any odd address."""
        try:
            web_host(url)
        except ValueError as error:
            raise ConnectFailed(f"signing in was stopped: {url[:200]!r} is {error}") from error
        await self._surface.show(url)

    async def wait_for_return(self) -> Returned:
        """Return what the browser came back with, to the receiver or pasted."""
        waiting: list[Awaitable[str]] = [self._surface.read_pasted_address()]
        if self._receiver is not None:
            waiting.append(self._receiver.receive())
        tasks = [asyncio.ensure_future(one) for one in waiting]
        try:
            finished_tasks, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return read_return(finished_tasks.pop().result())
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


def read_return(url: str) -> Returned:
    """Return the parts of the address that the browser was sent to."""
    query = parse_qs(urlsplit(url.strip()).query)

    def one(name: str) -> str | None:
        return query[name][0] if name in query else None

    return Returned(one("code") or "", one("state"), one("iss"))
