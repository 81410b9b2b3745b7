"""Terminal input from the reading thread to the app: discrete events at once, others coalesced.

Agent events never come this way (streaming-and-events, "Event Priority and Scheduling").
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from textual import events
from textual.message import Message

from tui.input.event_kind import EventPriority, priority_of

FRAME_GAP_S: Final = 1 / 60
"""Minimum time between two deliveries of mouse moves and wheel steps."""
RESIZE_GAP_S: Final = 0.066
"""Minimum time between two resizes while nothing is typed."""
LAYOUT_FACTOR: Final = 3.0
"""A resize waits at least this many times as long as the last one took, so that resizes occupy a
small part of the time. After a key it waits only for the frame of the last one: typed text must
appear in its place."""
WHEEL_LIMIT: Final = 64
"""Maximum number of wheel steps that are delivered together."""

_Wheel = tuple[type[events.MouseEvent], type[events.MouseEvent]]
_VERTICAL: Final[_Wheel] = (events.MouseScrollDown, events.MouseScrollUp)
_HORIZONTAL: Final[_Wheel] = (events.MouseScrollRight, events.MouseScrollLeft)


class InputBus:
    """Takes messages from any thread and delivers them on the loop, in order of priority.

    Discrete and default messages stay in order. Of continuous ones the newest of each type
    counts; wheel steps add up, opposite ones cancel. Nothing runs while nothing arrives.
    """

    def __init__(self, deliver: Callable[[Message], None], loop: asyncio.AbstractEventLoop) -> None:
        """`deliver` receives the messages; it is called on the loop's thread only."""
        self._deliver = deliver
        self._loop = loop
        self._lock = threading.Lock()
        self._queue: deque[Message] = deque()
        self._move: events.MouseMove | None = None
        self._wheel: dict[_Wheel, tuple[int, events.MouseEvent]] = {}
        self._resize: events.Resize | None = None
        self._is_woken = False
        self._timer: asyncio.TimerHandle | None = None
        self._pointer_due_s = self._resize_due_s = self._typing_due_s = float("-inf")
        self._resized_at_s: float | None = None
        self._is_typing = False
        """Whether a key arrived after the pending resize."""

    def push(self, message: Message) -> None:
        """Queue a message; callable from any thread, but not from a `signal.signal` handler."""
        with self._lock:
            self._store(message)
            if self._is_woken:
                return
            self._is_woken = True
        # The loop is closed when input arrives after the end.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._drain)

    def note_frame(self) -> None:
        """Note that a frame was drawn; it ends the time measurement of the last resize."""
        if self._resized_at_s is not None:
            now_s = self._loop.time()
            cost_s = now_s - self._resized_at_s
            self._resized_at_s = None
            self._resize_due_s = max(self._resize_due_s, now_s + LAYOUT_FACTOR * cost_s)
            self._typing_due_s = now_s
            with self._lock:
                if self._resize is not None:
                    self._set_timer(now_s)

    def _store(self, message: Message) -> None:
        if priority_of(message) is not EventPriority.CONTINUOUS:
            if self._move is not None and isinstance(message, events.MouseEvent):
                # The pointer must be where the button was pressed.
                self._queue.append(self._move)
                self._move = None
            self._queue.append(message)
        elif isinstance(message, events.Resize):
            self._resize = message
        elif isinstance(message, events.MouseMove):
            self._move = message
        elif isinstance(message, events.MouseEvent):
            axis = _VERTICAL if isinstance(message, _VERTICAL) else _HORIZONTAL
            steps, _last = self._wheel.get(axis, (0, message))
            self._wheel[axis] = (steps + (1 if isinstance(message, axis[0]) else -1), message)

    def _drain(self) -> None:
        with self._lock:
            self._is_woken = False
            discrete = list(self._queue)
            self._queue.clear()
        for message in discrete:
            self._deliver(message)
            self._is_typing = self._is_typing or isinstance(message, (events.Key, events.Paste))
        self._release_due()

    def _release_due(self) -> None:
        now_s = self._loop.time()
        ready_messages: list[Message] = []
        with self._lock:
            if now_s >= self._pointer_due_s:
                ready_messages.extend(self._take_pointer())
                if ready_messages:
                    self._pointer_due_s = now_s + FRAME_GAP_S
            if self._resize is None:
                self._is_typing = False
            elif now_s >= self._resize_release_s:
                ready_messages.append(self._resize)
                self._resize = None
                self._is_typing = False
                # How long it takes is not known before its frame is shown.
                self._resize_due_s = self._typing_due_s = now_s + RESIZE_GAP_S
                self._resized_at_s = now_s
            self._set_timer(now_s)
        for message in ready_messages:
            self._deliver(message)

    @property
    def _resize_release_s(self) -> float:
        return self._typing_due_s if self._is_typing else self._resize_due_s

    def _take_pointer(self) -> list[Message]:
        messages: list[Message] = []
        if self._move is not None:
            messages.append(self._move)
            self._move = None
        for axis, (steps, last) in self._wheel.items():
            messages.extend(_wheel_steps(axis, steps, last))
        self._wheel.clear()
        return messages

    def _set_timer(self, now_s: float) -> None:
        due_s = [
            at_s
            for at_s, is_held in (
                (self._pointer_due_s, self._move is not None or bool(self._wheel)),
                (self._resize_release_s, self._resize is not None),
            )
            if is_held
        ]
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_s:
            self._timer = self._loop.call_later(max(0.0, min(due_s) - now_s), self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        # Discrete input that arrived in the meantime goes first.
        self._drain()


def _wheel_steps(axis: _Wheel, steps: int, last: events.MouseEvent) -> list[Message]:
    """Return one event for each remaining step, all at the position of the last one."""
    event_class = axis[0] if steps > 0 else axis[1]
    return [_copy(last, event_class) for _ in range(min(abs(steps), WHEEL_LIMIT))]


def _copy(event: events.MouseEvent, event_class: type[events.MouseEvent]) -> events.MouseEvent:
    return event_class(
        event.widget,
        event.pointer_x,
        event.pointer_y,
        event.delta_x,
        event.delta_y,
        event.button,
        event.shift,
        event.meta,
        event.ctrl,
        screen_x=event.pointer_screen_x,
        screen_y=event.pointer_screen_y,
        style=event.style,
    )
