"""The side effects of a run, one by one: where a durable run records what is done."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from typing import Protocol

from agent.library.base.raw_items import RawItem


class ReservedStep(Protocol):
    """A place in the order of a run's side effects."""

    async def run(self, work: Callable[[], Awaitable[RawItem]]) -> RawItem:
        """Return what the work returns, as JSON values where it is recorded."""
        ...


class RunSteps(Protocol):
    """Hands out steps."""

    is_recorded: bool
    """Whether a run must reserve in the same order each time."""

    def reserve(self, name: str) -> ReservedStep:
        """Return the next step."""
        ...


class _DirectStep:
    async def run(self, work: Callable[[], Awaitable[RawItem]]) -> RawItem:
        return await work()


class DirectSteps:
    """Does everything at once, and records nothing."""

    is_recorded = False

    def reserve(self, name: str) -> ReservedStep:
        """Return a step that only does its work."""
        return _DirectStep()


_current: contextvars.ContextVar[RunSteps | None] = contextvars.ContextVar(
    "current_steps", default=None
)


def current_steps() -> RunSteps:
    """Return the steps of the run that this one is part of."""
    return _current.get() or DirectSteps()


def use_steps(steps: RunSteps) -> None:
    """Have runs of this context take their steps from there."""
    _current.set(steps)
