"""Pass values to slow sinks in a separate thread, so that no frame waits for a disk."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from typing import Final, Generic, TypeVar

CLOSE_TIMEOUT_S: Final = 2.0
"""A hanging disk must not keep the program from exiting."""

T = TypeVar("T")
_LOG: Final = logging.getLogger(__name__)


class SinkThread(Generic[T]):
    """Calls a sink with every value, in order; the thread starts with the first one."""

    def __init__(self, sink: Callable[[T], None], *, name: str) -> None:
        """If `sink` raises, the value is lost; the first such error is logged."""
        self._sink = sink
        self._name = name
        self._queue: queue.SimpleQueue[T | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def __call__(self, value: T) -> None:
        """Queue a value; never blocks."""
        if self._is_closed:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._queue.put(value)

    def close(self) -> None:
        """Return when all values are processed, or after `CLOSE_TIMEOUT_S`; safe to call twice."""
        self._is_closed = True
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(CLOSE_TIMEOUT_S)
            self._thread = None

    def _run(self) -> None:
        has_failed = False
        while (value := self._queue.get()) is not None:
            try:
                self._sink(value)
            except Exception:  # noqa: BLE001 - isolation boundary: an exporter of others
                if not has_failed:
                    _LOG.exception("%s: a value was not taken", self._name)
                has_failed = True
