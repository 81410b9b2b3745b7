"""The race for one ask: contenders run together, the first decisive answer wins.

Losers are cancelled and awaited before the winner's answer is returned, so that no side effect of a
loser can happen later. Source: the pattern "Racing Four Resolution Paths".
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from permissions.base.text.failure_text import failure_text
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest
from permissions.resolve.contender import Contender


class Abort(Protocol):
    """The abort signal as the race sees it."""

    @property
    def aborted(self) -> bool:
        """Whether it has fired."""
        ...

    async def wait(self) -> str:
        """Return once it fires."""
        ...


class RaceAborted(Exception):
    """The agent was interrupted before any contender answered; all contenders have ended."""


class Undecided(Struct, frozen=True):
    """A contender that ended without deciding."""

    name: str
    unsure: Decision | None = None
    """The ask it answered with, with its reason; None for plain "no opinion" and for a failure."""
    failure: str | None = None
    """What broke, e.g. `TimeoutError: …`; a failure counts as no opinion."""


class RaceResult(Struct, frozen=True):
    """How a race ended. `decision` is None when no contender had an opinion."""

    decision: Decision | None
    winner: str | None
    undecided_contenders: tuple[Undecided, ...] = ()
    """Contenders that ended before the winner without deciding, in the order of ending."""


async def race(
    contenders: Sequence[Contender], request: PermissionRequest, pending: Decision, abort: Abort
) -> RaceResult:
    """Run all contenders and return the first decisive answer; ties go to the earlier contender.

    An answer that is itself an ask counts as no opinion. An abort takes precedence over an answer
    of the same moment.

    Raises:
        RaceAborted: the abort signal fired first.
    """
    if abort.aborted:
        raise RaceAborted
    tasks = {
        asyncio.ensure_future(contender.decide(request, pending)): contender.name
        for contender in contenders
    }
    interrupt = asyncio.ensure_future(abort.wait())
    undecided_contenders: list[Undecided] = []
    waiting: set[asyncio.Future[Any]] = {*tasks, interrupt}
    try:
        while len(waiting) > 1:
            ended_tasks, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if interrupt in ended_tasks:
                raise RaceAborted
            for task, name in tasks.items():
                if task not in ended_tasks:
                    continue
                answer = _answer(task, name)
                if isinstance(answer, Decision):
                    return RaceResult(answer, name, tuple(undecided_contenders))
                undecided_contenders.append(answer)
        return RaceResult(None, None, tuple(undecided_contenders))
    finally:
        await _end((*tasks, interrupt))


def _answer(task: asyncio.Future[Decision | None], name: str) -> Decision | Undecided:
    if task.cancelled():
        return Undecided(name, failure="cancelled")
    error = task.exception()
    if error is not None:
        return Undecided(name, failure=failure_text(error))
    decision = task.result()
    if decision is None or decision.behavior is Behavior.ASK:
        return Undecided(name, unsure=decision)
    return decision


async def _end(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel the running tasks and wait for all of them, even if this task is cancelled."""
    tasks = tuple(tasks)
    unfinished_tasks = {task for task in tasks if not task.done()}
    for task in unfinished_tasks:
        task.cancel()
    cancellation: asyncio.CancelledError | None = None
    while unfinished_tasks:
        try:
            _, unfinished_tasks = await asyncio.wait(unfinished_tasks)
        except asyncio.CancelledError as error:
            # Raised again once every loser has ended: one that is left alone could still act.
            cancellation = error
            unfinished_tasks = {task for task in unfinished_tasks if not task.done()}
    for task in tasks:
        if not task.cancelled():
            # Retrieved, or the event loop would report an exception that was never retrieved.
            task.exception()
    if cancellation is not None:
        raise cancellation
