"""Buffers agent events until the next frame; the frame clock runs only while events arrive.

The first event after a pause is painted at once, later ones at most 20 times a second. Source:
streaming-and-events, "Bounded Buffer", "The Output Rendering Model".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.events import AgentEvent

CAPACITY_EVENTS: Final = 32
FRAME_S: Final = 1 / 20
_SLOW_LINE_FACTOR: Final = 4


class FrameClock:
    """Calls `paint` soon after `request`, never more often than once per frame."""

    def __init__(
        self, paint: Callable[[], None], is_slow: Callable[[], bool] = lambda: False
    ) -> None:
        """`is_slow` returns whether the terminal is slow, which makes frames less frequent."""
        self._paint = paint
        self._is_slow = is_slow
        self._handle: asyncio.TimerHandle | None = None
        self._last_s = float("-inf")

    def request(self, *, at_once: bool = True) -> None:
        """Request a frame: at once after a pause; without `at_once` at least one frame from now."""
        if self._handle is not None:
            return
        loop = asyncio.get_running_loop()
        interval_s = FRAME_S * (_SLOW_LINE_FACTOR if self._is_slow() else 1)
        delay_s = max(0.0 if at_once else interval_s, self._last_s + interval_s - loop.time())
        self._handle = loop.call_later(delay_s, self._tick)

    def flush(self) -> None:
        """Paint the requested frame now."""
        if self._handle is not None:
            self._handle.cancel()
            self._tick()

    def stop(self) -> None:
        """Cancel a requested frame."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    @property
    def is_waiting(self) -> bool:
        """Whether a frame is requested."""
        return self._handle is not None

    def _tick(self) -> None:
        self._handle = None
        self._last_s = asyncio.get_running_loop().time()
        self._paint()


class EventBridge:
    """Buffers events until the frame; a full buffer is applied early, so that no event is lost."""

    def __init__(
        self,
        fold: Callable[[AgentEvent], None],
        paint: Callable[[], None],
        is_slow: Callable[[], bool] = lambda: False,
        *,
        capacity: int = CAPACITY_EVENTS,
    ) -> None:
        """`fold` applies one event to the document, `paint` paints the document."""
        self._fold = fold
        self._paint = paint
        self._capacity = capacity
        self._events: list[AgentEvent] = []
        self.clock: Final = FrameClock(self._frame, is_slow)

    async def put(self, event: AgentEvent) -> None:
        """Buffer an event; if that fills the buffer, apply all events and yield to the loop."""
        self._events.append(event)
        # A call that fails at once shows its outcome, not a flash of "running".
        self.clock.request(at_once=event.type != "tool_dispatch")
        if len(self._events) >= self._capacity:
            self._drain()
            # Keys are handled before more output.
            await asyncio.sleep(0)

    def flush(self) -> None:
        """Apply and paint all events now, as when the stream ends or the document is read."""
        self.clock.stop()
        self._frame()

    def _drain(self) -> None:
        events, self._events = self._events, []
        for event in events:
            self._fold(event)

    def _frame(self) -> None:
        self._drain()
        self._paint()
