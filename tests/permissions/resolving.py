"""Contenders, aborts and asks for the tests of races: everything moves when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    Reason,
    ReasonType,
    TraceEntry,
    TraceStep,
)
from permissions.request import PermissionRequest
from permissions.resolve.handlers import user_decision

REQUEST = PermissionRequest("Bash", {"command": "git push"}, request_id="r1")
MODE_ENTRY = TraceEntry(TraceStep.MODE, "ask", "mode")
PENDING = Decision(
    Behavior.ASK,
    DecisionSource.MODE,
    ReasonType.MODE,
    Reason.MODE_DEFAULT,
    "no rule covers this, so default mode asks",
    trace=(MODE_ENTRY,),
)
YES = user_decision(Behavior.ALLOW)
NO = user_decision(Behavior.DENY, interrupt=True)
UNSURE = replace(YES, behavior=Behavior.ASK, message="cannot tell")


def pending(reason: Reason) -> Decision:
    """An ask for a reason."""
    return replace(PENDING, reason=reason)


@dataclass
class FakeAbort:
    """An abort signal that the test fires."""

    event: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def aborted(self) -> bool:
        return self.event.is_set()

    async def wait(self) -> str:
        await self.event.wait()
        return "interrupted"

    def fire(self) -> None:
        self.event.set()


@dataclass
class Scripted:
    """A contender that waits until the test lets it answer."""

    name: str
    answer: Decision | BaseException | None = YES
    go: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    cleanup: Callable[[], None] = lambda: None
    ended: str = ""
    """`answered`, or `cancelled` once its clean-up is through."""

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            # As a real one would: closes what it opened, which takes a moment.
            await asyncio.sleep(0)
            self.cleanup()
            self.ended = "cancelled"
            raise
        self.ended = "answered"
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def at_once(name: str, answer: Decision | BaseException | None = YES) -> Scripted:
    """A contender that answers as soon as it is asked."""
    contender = Scripted(name, answer)
    contender.go.set()
    return contender
