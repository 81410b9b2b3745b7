"""A limit for work that blocks, such as a pattern that backtracks without an end."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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

    def stop(_signal: int, _frame: object) -> None:
        raise CheckTooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
