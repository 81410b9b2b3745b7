"""A time limit for blocking work, such as a pattern that backtracks endlessly."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_AGAIN_S: Final = 0.05
"""Time until the next attempt, since the interpreter ignores exceptions in finalizers."""


class CheckTooLongError(Exception):
    """The work exceeded its limit of processor time."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raise `CheckTooLongError` inside the block after this much processor time.

    Only the main thread can be interrupted: in other threads there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    is_over = False

    def stop(_signal: int, _frame: object) -> None:
        if not is_over:
            raise CheckTooLongError

    # The garbage collector runs finalizers, in which the exception would be ignored.
    collects = gc.isenabled()
    gc.disable()
    previous_handler = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_S)
    try:
        try:
            yield
        finally:
            is_over = True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, previous_handler)
        if collects:
            gc.enable()
