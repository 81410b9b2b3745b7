"""Paces output to a connection whose speed the user has set.

Over a network the operating system accepts every write at once and queues it, so a slow connection
cannot be detected; only a known speed prevents frames from piling up in that queue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

LINE_VARIABLE: Final = "AGENT_TUI_LINE_BYTES_PER_S"


class LinePacing:
    """Estimates when the connection has transmitted the output; without a speed, at once."""

    def __init__(self, bytes_per_s: float | None, clock: Callable[[], float]) -> None:
        """`bytes_per_s` is the connection's speed; None if unknown."""
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_at_s = float("-inf")

    @property
    def is_slow(self) -> bool:
        """Whether a speed is set, which means that the connection is slow."""
        return self._bytes_per_s is not None

    @property
    def wait_s(self) -> float:
        """Seconds until all output is transmitted; 0 if it is."""
        return max(0.0, self._free_at_s - self._clock())

    def record_sent(self, size_bytes: int) -> None:
        """Note that this many bytes were just sent."""
        if self._bytes_per_s is not None:
            start_s = max(self._free_at_s, self._clock())
            self._free_at_s = start_s + size_bytes / self._bytes_per_s


def line_speed(env: Mapping[str, str]) -> float | None:
    """Return the speed from the environment, in bytes per second; None if missing or invalid."""
    try:
        bytes_per_s = float(env.get(LINE_VARIABLE, ""))
    except ValueError:
        return None
    return bytes_per_s if 0 < bytes_per_s < float("inf") else None
