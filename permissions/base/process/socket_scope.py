"""Start programs that reach no Unix socket without a path outside themselves (Linux, Landlock).

A restriction belongs to a thread and to what it starts, so that one thread that is restricted once
starts all of them: no program stands in between. It stays until this process ends, because the
kernel may end a program with the thread that started it (`PR_SET_PDEATHSIG`).
"""

from __future__ import annotations

import ctypes
import functools
import os
import queue
import struct
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, TypeVar

_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_NO_NEW_PRIVILEGES: Final = 38
_ABSTRACT_SOCKETS: Final = 1
_VERSION_WITH_SCOPES: Final = 6

ResultType = TypeVar("ResultType")


def start_in_scope(start: Callable[[], ResultType]) -> ResultType:
    """Call what starts a program where it reaches no abstract socket but its own and those of its
    children; as it is where the kernel cannot hold that. Raises what `start` raises."""
    thread = _thread(os.getpid())
    return start() if thread is None else thread.call(start)


@functools.cache
def _thread(_process: int) -> _ScopedThread | None:
    """Return the thread of a process; a fork has none of its parent's."""
    if sys.platform != "linux" or _system_call(_CREATE_RULESET, None, 0, 1) < _VERSION_WITH_SCOPES:
        return None
    thread = _ScopedThread()
    return thread if thread.call(_restrict) else None


class _ScopedThread:
    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="socket-scope", daemon=True).start()

    def call(self, function: Callable[[], ResultType]) -> ResultType:
        future: Future[ResultType] = Future()

        def work() -> None:
            try:
                future.set_result(function())
            except BaseException as error:  # noqa: BLE001 - the caller's, wherever it happens
                future.set_exception(error)

        self._work.put(work)
        return future.result()

    def _run(self) -> None:
        while True:
            self._work.get()()


def _restrict() -> bool:
    """Restrict this thread, files and networks excepted; False where that is refused."""
    attributes = struct.pack("=QQQ", 0, 0, _ABSTRACT_SOCKETS)
    ruleset = _system_call(_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    try:
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return _system_call(_RESTRICT_SELF, ruleset, 0) == 0
    finally:
        os.close(ruleset)


def _system_call(number: int, *arguments: bytes | int | None) -> int:
    words = [ctypes.c_size_t(one) if isinstance(one, int) else one for one in arguments]
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *words))
