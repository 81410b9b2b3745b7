"""A limit for work that blocks, such as a pattern that backtracks without an end."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_AGAIN_S: Final = 0.05
"""Until the next attempt: the interpreter ignores an exception that falls into a finalizer."""


class CheckTooLongError(Exception):
    """The work took more processor time than it may."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """Raise `CheckTooLongError` inside the block after so much processor time.

    Only the main thread can be interrupted: in another one there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    is_over = False

    def stop(_signal: int, _frame: object) -> None:
        if not is_over:
            raise CheckTooLongError

    # The collector runs finalizers of anything; the exception would be ignored there.
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
