"""The question to the user after the sandbox refused a command something, and the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum

from msgspec import Struct

from agent.sandbox.refusals import Refusal


class RefusalAnswer(StrEnum):
    """What to do next."""

    DIRECTORIES = "directories"
    """Allow writing there for the session, and run it again inside."""
    HOSTS = "hosts"
    """Allow the hosts for the session, and run it again inside."""
    OUTSIDE = "outside"
    """Run it again, this once, outside the sandbox."""
    NO = "no"


class RefusalRequest(Struct, frozen=True):
    """A question about a command that ran and was refused something."""

    command: str
    refusals: tuple[Refusal, ...]
    directories: tuple[str, ...] = ()
    """Canonical; those that can be opened for the session."""
    hosts: tuple[str, ...] = ()
    """`host:port`; those that are not decided yet."""
    may_leave: bool = True


DecideRefusal = Callable[[RefusalRequest], Awaitable[RefusalAnswer]]
"""Asks a user. Cancelled when the turn is interrupted."""
