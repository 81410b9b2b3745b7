"""The user's side of a sign-in: a URL to open, and the URL that the browser is redirected to."""

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
        """Open a URL in the browser, or show it. It is always http or https."""
        ...

    async def read_pasted_address(self) -> str:
        """Wait for the user to paste the URL that the browser was redirected to, and return it."""
        ...


class Returned(Struct, frozen=True):
    """The parameters of the authorization server's redirect."""

    code: str
    state: str | None
    issuer: str | None


class SignInAttempt:
    """One sign-in in progress."""

    def __init__(self, surface: SignInSurface, receiver: LoopbackReceiver | None) -> None:
        """`receiver` receives the redirect; None if the user pastes it."""
        self._surface = surface
        self._receiver = receiver
        self.is_over = False
        """Whether the user no longer takes part in the sign-in."""
        self.redirect_uri = (
            receiver.url if receiver is not None else "http://localhost:3000/callback"
        )

    async def show(self, url: str) -> None:
        """Send the user to the authorization server. Raises ConnectFailed for an invalid URL."""
        try:
            web_host(url)
        except ValueError as error:
            raise ConnectFailed(f"signing in was stopped: {url[:200]!r} is {error}") from error
        await self._surface.show(url)

    async def wait_for_return(self) -> Returned:
        """Wait for the redirect, received or pasted, and return its parameters."""
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
    """Return the parameters of the URL that the browser was redirected to."""
    query = parse_qs(urlsplit(url.strip()).query)

    def one(name: str) -> str | None:
        return query[name][0] if name in query else None

    return Returned(one("code") or "", one("state"), one("iss"))
