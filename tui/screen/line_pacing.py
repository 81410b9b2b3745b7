"""The pace of a line that is known to be slow, where a full buffer never reveals it.

Over a network the local side takes every write at once and queues it out of sight; only a figure
from the user can prevent frames from piling up there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

LINE_VARIABLE: Final = "AGENT_TUI_LINE_BYTES_PER_S"


class LinePacing:
    """Reports when the line has transmitted the output; without a figure it always has."""

    def __init__(self, bytes_per_s: float | None, clock: Callable[[], float]) -> None:
        """Take the speed of the line; None when it is not known to be slow."""
        self._bytes_per_s = bytes_per_s
        self._clock = clock
        self._free_at_s = float("-inf")

    @property
    def is_slow(self) -> bool:
        """Whether the line is known to be slow."""
        return self._bytes_per_s is not None

    @property
    def wait_s(self) -> float:
        """How long until the line is free; 0 when it is."""
        return max(0.0, self._free_at_s - self._clock())

    def record_sent(self, size_bytes: int) -> None:
        """Note what was just sent."""
        if self._bytes_per_s is not None:
            start_s = max(self._free_at_s, self._clock())
            self._free_at_s = start_s + size_bytes / self._bytes_per_s


def line_speed(env: Mapping[str, str]) -> float | None:
    """Return the line speed from the environment; None where it is missing or invalid."""
    try:
        bytes_per_s = float(env.get(LINE_VARIABLE, ""))
    except ValueError:
        return None
    return bytes_per_s if 0 < bytes_per_s < float("inf") else None
