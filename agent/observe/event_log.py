"""A log of named events with numbers only; safe to share, because it contains no free text.

A string must be wrapped in `Verified`, which declares that it was checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from msgspec import Struct, field

Value = bool | int | float


class Verified(Struct, frozen=True):
    """A string that was checked to contain no path, prompt, code or user name."""

    text: str
    reason: str
    """Why it is safe; for readers of the source, not logged."""


class LoggedEvent(Struct, frozen=True):
    """One event."""

    name: str
    time_s: float
    """Unix time."""
    values: Mapping[str, Value]
    labels: Mapping[str, str] = field(default_factory=dict)
    """Verified strings."""

    def as_json(self) -> dict[str, object]:
        """Return the event as one JSON object."""
        record: dict[str, object] = {"event": self.name, "at": self.time_s, **self.values}
        record.update(self.labels)
        return record


Sink = Callable[[LoggedEvent], None]


class EventLog:
    """Passes events to one sink; without a sink nothing is stored."""

    def __init__(self, sink: Sink | None = None, *, clock: Callable[[], float] = time.time) -> None:
        """`sink` receives every event."""
        self._sink = sink
        self._clock = clock

    def log(self, event: str, /, **values: Value | Verified | None) -> None:
        """Log an event. Values of None are left out."""
        numbers: dict[str, Value] = {}
        labels: dict[str, str] = {}
        for name, value in values.items():
            if isinstance(value, Verified):
                labels[name] = value.text
            elif isinstance(value, bool | int | float):
                numbers[name] = value
            elif value is not None:
                # For callers without type checking: it is better to fail than to leak a text.
                raise TypeError(f"{event}.{name}: a string must be wrapped in Verified")
        if self._sink is not None:
            self._sink(LoggedEvent(event, self._clock(), numbers, labels))
