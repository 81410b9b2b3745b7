"""A log of named events with numbers only: safe to share, because no text can slip into it.

Events logged before a sink is attached wait in a bounded queue. A string needs `Verified`, which
declares explicitly that somebody checked it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from msgspec import Struct, field

QUEUE_LIMIT: Final = 4_096
"""Events stored while there is no sink; the newest are dropped when it is full."""

Value = bool | int | float


class Verified(Struct, frozen=True):
    """A string that was checked: it holds no path, no prompt, no code, no name of a user."""

    text: str
    reason: str
    """Why it is safe; stays in the source and is not logged."""


class LoggedEvent(Struct, frozen=True):
    """One event."""

    name: str
    at: float
    """Unix time."""
    values: Mapping[str, Value]
    labels: Mapping[str, str] = field(default_factory=dict)
    """Verified strings."""
    sample_rate: float = 1.0
    """Share of such events that is logged: counts are divided by it."""

    def as_json(self) -> dict[str, object]:
        """Return the event as one JSON object."""
        record: dict[str, object] = {"event": self.name, "at": self.at, **self.values}
        record.update(self.labels)
        if self.sample_rate < 1.0:
            record["sample_rate"] = self.sample_rate
        return record


Sink = Callable[[LoggedEvent], None]


class EventLog:
    """Takes events from the first moment on and hands them to one sink."""

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random | None = None,
        sample_rates: Mapping[str, float] | None = None,
    ) -> None:
        """`sample_rates` thins out events by name."""
        self._clock = clock
        self._rng = rng or Random()
        self._sample_rates = dict(sample_rates or {})
        self._queue: deque[LoggedEvent] = deque()
        self._sink: Sink | None = None
        self._draining = False
        self.dropped = 0
        """Events lost because the queue was full."""

    def log(self, event: str, /, **values: Value | Verified | None) -> None:
        """Log an event. Values of None are left out."""
        rate = self._sample_rates.get(event, 1.0)
        if rate < 1.0 and self._rng.random() >= rate:
            return
        numbers: dict[str, Value] = {}
        labels: dict[str, str] = {}
        for name, value in values.items():
            if isinstance(value, Verified):
                labels[name] = value.text
            elif isinstance(value, bool | int | float):
                numbers[name] = value
            elif value is not None:
                # Callers that a type checker has not seen: leaking is worse than losing.
                raise TypeError(f"{event}.{name}: a string must be wrapped in Verified")
        logged = LoggedEvent(event, self._clock(), numbers, labels, rate)
        if self._sink is not None and not self._draining:
            self._sink(logged)
        elif len(self._queue) < QUEUE_LIMIT:
            self._queue.append(logged)
        else:
            self.dropped += 1

    def attach(self, sink: Sink) -> bool:
        """Send events to the sink from now on; return False, and change nothing, if there is one.

        What waited goes to it a little later, off the caller's path, and before anything newer.
        """
        if self._sink is not None:
            return False
        self._sink = sink
        self._draining = bool(self._queue)
        if self._draining:
            try:
                asyncio.get_running_loop().call_soon(self._drain)
            except RuntimeError:
                self._drain()
        return True

    def detach(self) -> None:
        """Hand over what still waits, and let events wait again."""
        self._drain()
        self._sink = None

    def _drain(self) -> None:
        while self._queue and self._sink is not None:
            self._sink(self._queue.popleft())
        self._draining = False
