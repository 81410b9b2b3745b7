"""An event loop whose clock jumps over waits: hours of backoff in milliseconds, with real sockets.

Time stands still while anything real is under way (a socket with data, a thread at work); when only
timers are left it jumps to the next one.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

QUIET_S: Final = 0.001
"""Real time in which a loopback connection delivers what was written to it."""
THREAD_S: Final = 0.02

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Asks the real selector first, then lets the clock jump."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_s = 0.0
        self.busy_threads = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout is None or timeout <= 0:
            return ready if ready or timeout is not None else super().select(None)
        if self.busy_threads:
            return super().select(min(timeout, THREAD_S))
        ready = super().select(min(timeout, QUIET_S))
        if not ready:
            self.skipped_s += timeout
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """Its `time()` is the clock to give to whatever takes one."""

    def __init__(self) -> None:
        """Start at the real monotonic time."""
        self._jumping = _Selector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return real time plus all that was skipped."""
        return time.monotonic() + self._jumping.skipped_s

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> Any:
        """As in the base class; the clock stands still meanwhile."""
        self._jumping.busy_threads += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._done)
        return future

    def _done(self, _future: object) -> None:
        self._jumping.busy_threads -= 1


def run_virtually(main: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a loop of its own and return what it returns."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(main(loop))
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
