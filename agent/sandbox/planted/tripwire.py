"""Ends a command at once when it makes what would lead git to another configuration.

What is looked for after a run may stand there as long as the run: a server in the background is
enough, and the user's prompt or editor asks git for the state of the project at any time.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from permissions.base.files.inotify import (
    CLOSE_WRITE,
    CREATE,
    MODIFY,
    MOVED_TO,
    add_watch,
    open_notices,
    read_notices,
)

_MADE: Final = CREATE | MOVED_TO | CLOSE_WRITE | MODIFY
_POLL_MS: Final = 50
"""How often it looks where the system has no more watches: users may have few."""


class Tripwire:
    """Watches names while one program runs, from a thread of its own."""

    def __init__(self, paths: Iterable[str], pid: int, is_hit: Callable[[], bool]) -> None:
        """Start to watch.

        Args:
            pid: The program, which is killed at the first hit.
            is_hit: Looks whether one of the paths is not as it must be, and mends it.

        Raises:
            OSError: the system has no more descriptors or threads.
        """
        self._is_hit = is_hit
        self._pid = pid
        self._names: dict[int, set[str]] = {}
        with contextlib.ExitStack() as stack:
            self._program = _closing(stack, os.pidfd_open(pid))
            self._stop_signal, self._stop = os.pipe()
            stack.callback(os.close, self._stop_signal)
            self._sources = [self._stop_signal]
            with contextlib.suppress(OSError):
                self._add_watches(stack, paths)
            self._descriptors = stack.pop_all()
        self._end_event = threading.Event()
        try:
            threading.Thread(target=self._run, name="tripwire", daemon=True).start()
        except RuntimeError as error:
            os.close(self._stop)
            self._descriptors.close()
            raise OSError(str(error)) from error

    def _add_watches(self, stack: contextlib.ExitStack, paths: Iterable[str]) -> None:
        events = _closing(stack, open_notices())
        for path in paths:
            directory, name = os.path.split(path)
            with contextlib.suppress(FileNotFoundError):
                watch = add_watch(events, directory, _MADE)
                self._names.setdefault(watch, set()).add(name)
        self._sources.append(events)

    def close(self) -> None:
        """Stop to watch. Raises nothing."""
        os.close(self._stop)
        self._end_event.wait()

    def _run(self) -> None:
        try:
            self._watch()
        finally:
            self._end_event.set()
            # The kernel takes some 20 ms to close watches: the caller does not wait for that.
            self._descriptors.close()

    def _watch(self) -> None:
        # Not `select`, which takes no descriptor above 1023.
        poll = select.poll()
        for source in self._sources:
            poll.register(source, select.POLLIN)
        timeout_ms = None if len(self._sources) > 1 else _POLL_MS
        # It may have been made before the watch was there.
        is_made = True
        while not (is_made and self._is_hit()):
            ready = [descriptor for descriptor, _ in poll.poll(timeout_ms)]
            if self._stop_signal in ready:
                return
            is_made = not ready or self._concerns(ready[0])
        self._kill()

    def _kill(self) -> None:
        # The first process of the namespace itself: it may not yet be set to end with its wrapper.
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._program, 0)
            inside = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text("ascii")
            for pid in inside.split():
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._program, signal.SIGKILL)

    def _concerns(self, events: int) -> bool:
        return any(
            watch == -1 or name in self._names.get(watch, ())  # -1: some were lost
            for watch, _mask, name in read_notices(events)
        )


def _closing(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor
