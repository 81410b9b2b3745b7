"""Cancellation that preserves protocol obligations: a signal that work observes, a controller that
fires it.

A signal is not `Task.cancel()`: the code that observes it finishes what the conversation needs
(synthetic tool results, transcript records) and then returns.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable
from typing import Final, TypeVar

T = TypeVar("T")

INTERRUPTED_BY_USER: Final = "Interrupted by user"


class Aborted(Exception):
    """Raised by `AbortSignal.race` when the signal fired before the work was done."""

    def __init__(self, reason: str) -> None:
        """Carry the reason the signal was fired with."""
        self.reason = reason
        super().__init__(reason)


class AbortSignal:
    """Read side of an abort: check `aborted`, await `wait()`, or run work under `race()`."""

    __slots__ = ("_event", "_reason")

    def __init__(self) -> None:
        """Start unfired."""
        self._event = asyncio.Event()
        self._reason: str | None = None

    @property
    def aborted(self) -> bool:
        """Whether the signal has fired; once True it stays True."""
        return self._event.is_set()

    @property
    def reason(self) -> str | None:
        """Why it fired; None while it has not."""
        return self._reason

    async def wait(self) -> str:
        """Return the reason once the signal fires."""
        await self._event.wait()
        return self._reason or INTERRUPTED_BY_USER

    async def race(self, work: Awaitable[T]) -> T:
        """Return the work's result, or cancel and await it when the signal fires first.

        Raises:
            Aborted: the signal fired first (the work has ended by then).
        """
        if self.aborted:
            if inspect.iscoroutine(work):
                work.close()
            raise Aborted(self._reason or INTERRUPTED_BY_USER)
        task = asyncio.ensure_future(work)
        waiter = asyncio.ensure_future(self._event.wait())
        try:
            await asyncio.wait({task, waiter}, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled() and task.exception() is None:
                return task.result()
            raise Aborted(self._reason or INTERRUPTED_BY_USER)
        finally:
            waiter.cancel()
            if not task.done():
                task.cancel()
                await asyncio.wait({task})

    async def sleep(self, seconds: float) -> bool:
        """Sleep, ending early when the signal fires; return whether it fired."""
        try:
            await asyncio.wait_for(self._event.wait(), timeout=seconds)
        except TimeoutError:
            return False
        return True


def has_fired(signal: AbortSignal) -> bool:
    """Return whether the signal has fired by now.

    Used in place of the property where a type checker would assume that an await cannot change it.
    """
    return signal.aborted


class AbortController:
    """Write side of an abort; `child()` controllers fire with their parent, not the other way
    round."""

    __slots__ = ("_children", "signal")

    def __init__(self) -> None:
        """Create a signal that has not fired."""
        self.signal = AbortSignal()
        self._children: list[AbortController] = []

    def abort(self, reason: str = INTERRUPTED_BY_USER) -> None:
        """Fire the signal and every child's; a second call changes nothing."""
        if self.signal.aborted:
            return
        self.signal._reason = reason
        self.signal._event.set()
        for child in self._children:
            child.abort(reason)
        self._children.clear()

    def child(self) -> AbortController:
        """Return a controller that fires when this one does."""
        child = AbortController()
        if self.signal.aborted:
            child.abort(self.signal.reason or INTERRUPTED_BY_USER)
        else:
            self._children.append(child)
        return child

    def release(self, child: AbortController) -> None:
        """Forget a child whose work has ended, so that a long-lived parent does not collect
        them."""
        if child in self._children:
            self._children.remove(child)
