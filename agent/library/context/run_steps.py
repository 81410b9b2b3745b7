"""The side effects of a run as steps, which a durable run records."""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from typing import Protocol

from agent.library.base.raw_items import RawItem


class ReservedStep(Protocol):
    """A reserved position in the order of a run's side effects."""

    async def run(self, work: Callable[[], Awaitable[RawItem]]) -> RawItem:
        """Run the work and return its result, as JSON values if it is recorded."""
        ...


class RunSteps(Protocol):
    """Provides the steps of a run."""

    is_recorded: bool
    """Whether steps are recorded, so that a run must reserve them in the same order each time."""

    def reserve(self, name: str) -> ReservedStep:
        """Return the next step."""
        ...


class _DirectStep:
    async def run(self, work: Callable[[], Awaitable[RawItem]]) -> RawItem:
        return await work()


class DirectSteps:
    """Runs steps directly, and records nothing."""

    is_recorded = False

    def reserve(self, name: str) -> ReservedStep:
        """Return a step that only runs its work."""
        return _DirectStep()


_current: contextvars.ContextVar[RunSteps | None] = contextvars.ContextVar(
    "current_steps", default=None
)


def current_steps() -> RunSteps:
    """Return the steps set by `use_steps` in this context, else direct ones."""
    return _current.get() or DirectSteps()


def use_steps(steps: RunSteps) -> None:
    """Set the steps for runs in the current context."""
    _current.set(steps)
