"""Kills a command as soon as it creates a file that would redirect git's configuration.

The check after a run comes too late for a long one, such as a server in the background: the user's
shell prompt or editor may query git at any time.
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
"""Polling interval where no inotify watch is available; the system limits their number per user."""


class Tripwire:
    """Watches names in its own thread while one program runs."""

    def __init__(self, paths: Iterable[str], pid: int, is_hit: Callable[[], bool]) -> None:
        """Start watching.

        Args:
            pid: The program, which is killed at the first hit.
            is_hit: Restores the paths and returns whether one of them had been changed.

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
        """Stop watching. Raises nothing."""
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
        # The file may have been created before the watch existed.
        is_made = True
        while not (is_made and self._is_hit()):
            ready = [descriptor for descriptor, _ in poll.poll(timeout_ms)]
            if self._stop_signal in ready:
                return
            is_made = not ready or self._concerns(ready[0])
        self._kill()

    def _kill(self) -> None:
        # Also the first process of the namespace, which may not yet be set to die with its parent.
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._program, 0)
            inside = Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text("ascii")
            for pid in inside.split():
                os.kill(int(pid), signal.SIGKILL)
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._program, signal.SIGKILL)

    def _concerns(self, events: int) -> bool:
        return any(
            watch == -1 or name in self._names.get(watch, ())  # -1: events were lost
            for watch, _mask, name in read_notices(events)
        )


def _closing(stack: contextlib.ExitStack, descriptor: int) -> int:
    stack.callback(os.close, descriptor)
    return descriptor
