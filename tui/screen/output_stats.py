"""Figures about the output: bytes, frames and the terminal's speed.

There is no timer: the figures are computed on request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from msgspec import Struct

WINDOW_S: Final = 10.0
"""The period over which rates are averaged."""
SLOW_DRAIN_S: Final = 0.05
"""A write that takes at least this long means that the terminal or the connection is slow."""
SLOW_MEMORY_S: Final = 5.0
"""How long after such a write the connection counts as slow."""


class OutputStats(Struct, frozen=True):
    """Figures about the output so far."""

    total_bytes: int
    total_frames: int
    coalesced_frames: int
    """Frames that were not written because a newer one replaced them."""
    bytes_per_s: float
    """Average over the last 10 seconds."""
    frames_per_s: float
    drain_bytes_per_s: float | None
    """Speed of the connection at the last slow write; None if there was none."""
    is_slow: bool


class OutputMeasure:
    """Counts writes and frames, and detects slow writes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._writes: deque[tuple[float, int]] = deque(maxlen=4096)
        self._frames: deque[float] = deque(maxlen=4096)
        self._total_bytes = 0
        self._total_frames = 0
        self._coalesced_frames = 0
        self._drain_bytes_per_s: float | None = None
        self._slow_at_s = float("-inf")

    def wrote(self, size_bytes: int, elapsed_s: float) -> None:
        """Record a finished write and its duration; called by the thread that wrote."""
        now_s = self._clock()
        self._writes.append((now_s, size_bytes))
        self._total_bytes += size_bytes
        if elapsed_s >= SLOW_DRAIN_S:
            self._slow_at_s = now_s
            self._drain_bytes_per_s = size_bytes / elapsed_s

    def frame(self) -> None:
        """Count a frame that was written."""
        self._total_frames += 1
        self._frames.append(self._clock())

    def count_coalesced(self) -> None:
        """Count a frame that a newer one replaced."""
        self._coalesced_frames += 1

    @property
    def is_slow(self) -> bool:
        """Whether there was a slow write recently; animation should stop then."""
        return self._clock() - self._slow_at_s < SLOW_MEMORY_S

    def figures(self) -> OutputStats:
        """Return the current figures."""
        since_s = self._clock() - WINDOW_S
        recent_bytes = sum(size for at_s, size in tuple(self._writes) if at_s >= since_s)
        recent_frames = sum(at_s >= since_s for at_s in tuple(self._frames))
        return OutputStats(
            total_bytes=self._total_bytes,
            total_frames=self._total_frames,
            coalesced_frames=self._coalesced_frames,
            bytes_per_s=recent_bytes / WINDOW_S,
            frames_per_s=recent_frames / WINDOW_S,
            drain_bytes_per_s=self._drain_bytes_per_s,
            is_slow=self.is_slow,
        )


def figures_text(figures: OutputStats) -> str:
    """Return figures as a line for users."""
    parts = [
        f"output {_size(figures.bytes_per_s)}/s in {figures.frames_per_s:.1f} frames/s "
        f"over the last {WINDOW_S:.0f} s",
        f"{_size(figures.total_bytes)} in {figures.total_frames:,} frames so far",
    ]
    if figures.coalesced_frames:
        parts.append(f"{figures.coalesced_frames:,} replaced by newer ones")
    if figures.drain_bytes_per_s is not None:
        parts.append(f"the terminal accepted {_size(figures.drain_bytes_per_s)}/s at most")
    if figures.is_slow:
        parts.append("it is slow, so animations are off")
    return ", ".join(parts)


def _size(size_bytes: float) -> str:
    if size_bytes < 1_000:
        return f"{size_bytes:.0f} B"
    return f"{size_bytes / 1e3:.1f} kB" if size_bytes < 1e6 else f"{size_bytes / 1e6:.1f} MB"
