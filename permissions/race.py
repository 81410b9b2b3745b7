"""The race for one ask: contenders run together, the first decisive answer wins.

Losers are cancelled and awaited before the winner's answer is returned, so that no side effect of a
loser can come later. Source: the pattern "Racing Four Resolution Paths".
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from permissions.contender import Contender
from permissions.decision import Behavior, Decision
from permissions.request import PermissionRequest


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
    """The agent was interrupted before anybody answered; all contenders have ended."""


@dataclass(frozen=True, slots=True)
class RaceResult:
    """How a race ended. `decision` is None when nobody had an opinion."""

    decision: Decision | None
    winner: str | None
    failures: tuple[str, ...] = ()
    """Contenders that broke, as `name: what happened`; they count as no opinion."""


async def race(
    contenders: Sequence[Contender],
    request: PermissionRequest,
    pending: Decision,
    abort: Abort,
) -> RaceResult:
    """Run all contenders and return the first decisive answer; ties go to the earlier contender.

    An answer that is itself an ask is no opinion.

    Raises:
        RaceAborted: the abort signal fired first.
    """
    if abort.aborted:
        raise RaceAborted
    tasks = {
        asyncio.ensure_future(contender.decide(request, pending)): contender
        for contender in contenders
    }
    order = list(tasks)
    interrupt = asyncio.ensure_future(abort.wait())
    failures: list[str] = []
    waiting: set[asyncio.Future[object]] = {*order, interrupt}  # type: ignore[arg-type]  # one set, two result types
    try:
        while len(waiting) > 1:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if interrupt in done:
                raise RaceAborted
            for task in order:
                if task not in done:
                    continue
                decision = _answer(task, tasks[task].name, failures)
                if decision is not None:
                    return RaceResult(decision, tasks[task].name, tuple(failures))
        return RaceResult(None, None, tuple(failures))
    finally:
        losers = [task for task in (*order, interrupt) if not task.done()]
        for task in losers:
            task.cancel()
        if losers:
            await asyncio.wait(losers)
        for task in order:
            if task.done() and not task.cancelled():
                task.exception()


def _answer(
    task: asyncio.Future[Decision | None], name: str, failures: list[str]
) -> Decision | None:
    if task.cancelled():
        failures.append(f"{name}: cancelled")
        return None
    error = task.exception()
    if error is not None:
        failures.append(f"{name}: {type(error).__name__}: {error}")
        return None
    decision = task.result()
    if decision is None or decision.behavior is Behavior.ASK:
        return None
    return decision
