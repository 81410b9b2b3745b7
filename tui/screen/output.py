"""Writes to the terminal without blocking the program.

Data that the terminal accepts without waiting is written directly; the rest is written by a thread,
in order. The frame writer checks `is_busy` and merges frames instead of queueing them.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from tui.screen.output_stats import OutputMeasure

_DIRECT_BYTES: Final = 2048
"""Maximum size of a direct write to a blocking descriptor. A terminal that is ready accepts at
least this much."""
_CHUNK_BYTES: Final = 16384


class TerminalOutput:
    """The output to a terminal, given by its file descriptor, which is not closed here."""

    def __init__(
        self,
        fileno: int,
        *,
        on_lost: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`on_lost` is called once, from any thread, when writing to the terminal fails."""
        self.meter: Final = OutputMeasure(clock)
        self._fileno = fileno
        self._direct_fileno = _open_again(fileno)
        self._on_lost = on_lost
        self._clock = clock
        self._queue: deque[bytes] = deque()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_writing = False
        self._is_closed = False
        self._is_lost = False
        self._on_drained: Callable[[], None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether an earlier write is not finished."""
        return self._is_writing or bool(self._queue)

    def write(self, text: str) -> None:
        """Write or queue the text; never blocks and never raises."""
        data = text.encode("utf-8", "replace")
        if not data or self._is_lost or self._is_closed:
            return
        with self._condition:
            if not self.is_busy:
                data = self._write_directly(data)
            if not data or self._is_lost:
                return
            self._queue.append(data)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="terminal-output", daemon=True
                )
                self._thread.start()
            self._condition.notify_all()

    def call_when_drained(self, callback: Callable[[], None]) -> None:
        """Call once when the queue is empty: from the writing thread, or at once if it is now."""
        with self._condition:
            if self.is_busy and not self._is_lost:
                self._on_drained = callback
                return
        callback()

    def close(self, timeout_s: float = 1.0) -> None:
        """Wait until the queue is written, at most this long, and stop."""
        with self._condition:
            self._is_closed = True
            self._on_drained = None
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(timeout_s)
        direct, self._direct_fileno = self._direct_fileno, None
        if direct is not None:
            os.close(direct)

    def _write_directly(self, data: bytes) -> bytes:
        """Write what the terminal accepts without waiting; return the rest."""
        if self._direct_fileno is None:
            if len(data) > _DIRECT_BYTES or not self._is_ready():
                return data
            self._write_all(data)
            return b""
        started_s = self._clock()
        try:
            written_bytes = os.write(self._direct_fileno, data)
        except BlockingIOError:
            return data
        except OSError:
            self._mark_lost()
            return b""
        self.meter.wrote(written_bytes, self._clock() - started_s)
        return data[written_bytes:]

    def _is_ready(self) -> bool:
        try:
            return bool(select.select([], [self._fileno], [], 0)[1])
        except (OSError, ValueError):
            return False

    def _run(self) -> None:
        while True:
            with self._condition:
                while not self._queue and not self._is_closed:
                    self._condition.wait()
                if not self._queue or self._is_lost:
                    return
                data = b"".join(self._queue)
                self._queue.clear()
                self._is_writing = True
            self._write_all(data)
            callback = None
            with self._condition:
                self._is_writing = False
                if not self._queue or self._is_lost:
                    callback, self._on_drained = self._on_drained, None
            if callback is not None:
                callback()

    def _write_all(self, data: bytes) -> None:
        started_s = self._clock()
        view = memoryview(data)
        while view:
            try:
                written_bytes = os.write(self._fileno, view[:_CHUNK_BYTES])
            except BlockingIOError:
                select.select([], [self._fileno], [])
            except OSError:
                self._mark_lost()
                return
            else:
                view = view[written_bytes:]
        self.meter.wrote(len(data), self._clock() - started_s)

    def _mark_lost(self) -> None:
        if not self._is_lost:
            self._is_lost = True
            self._queue.clear()
            self._on_lost()


def _open_again(fileno: int) -> int | None:
    """Open the terminal again, non-blocking; None if that fails.

    Making the original descriptor non-blocking would also affect the shell, which shares it.
    """
    try:
        return os.open(os.ttyname(fileno), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError:
        return None
