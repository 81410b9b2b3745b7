"""Delays keys until the focused widget has handled the previous one.

A key that no listener claimed is handled by the focused widget in its own task. Until then no
later key may be routed, or "a" then Enter in one read would submit without the "a". Keys also wait
while `must_wait` returns True, when their target is not on the screen yet.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

from textual import events
from textual.app import App
from textual.dom import DOMNode

from tui.input.dispatch import RESERVED_KEYS

_HANDOVER_LIMIT_S: Final = 0.25
"""How long typed keys wait for a widget that does not finish handling the previous one."""


class KeyHandover:
    """Keys and pastes that wait, oldest first."""

    def __init__(self, app: App[Any], route: Callable[[events.Event], Awaitable[None]]) -> None:
        """`route` routes an event that has waited."""
        self._app = app
        self._route = route
        self._waiting_events: deque[events.Event] = deque()
        self._target: DOMNode | None = None
        self._count = 0
        self.must_wait: Callable[[], bool] = lambda: False
        """Whether keys wait for another reason; its owner calls `resume` when that changes."""

    def take(self, event: events.Event) -> bool:
        """Queue an event for later if it must wait; reserved keys never do."""
        if self._must_wait(event):
            self._waiting_events.append(event)
            return True
        return False

    def begin(self) -> None:
        """Note that a key was passed to the focused widget; later keys wait until it is handled."""
        target = self._app.focused
        if target is None:
            return
        self._count += 1
        if target.call_later(self._end, self._count):
            self._target = target

    def resume(self) -> None:
        """Route the waiting events, unless they must still wait."""
        if self._waiting_events and self._target is None:
            self._app.call_later(self._route_waiting)

    def take_text(self) -> str:
        """Remove the waiting events and return their text."""
        pieces = []
        for event in self._waiting_events:
            if isinstance(event, events.Paste):
                pieces.append(event.text)
            elif isinstance(event, events.Key) and event.is_printable:
                pieces.append(event.character or "")
        self._waiting_events.clear()
        return "".join(pieces)

    def _must_wait(self, event: events.Event) -> bool:
        if isinstance(event, events.Key) and event.key in RESERVED_KEYS:
            return False
        if self.must_wait():
            return True
        if self._target is None:
            return bool(self._waiting_events)
        if not self._target.is_running:
            self._end(self._count)
            return bool(self._waiting_events)
        if not self._waiting_events:
            # Only now does it matter how long the widget takes.
            asyncio.get_running_loop().call_later(_HANDOVER_LIMIT_S, self._end, self._count)
        return True

    def _end(self, count: int) -> None:
        if count == self._count and self._target is not None:
            self._target = None
            self.resume()

    async def _route_waiting(self) -> None:
        while self._waiting_events and self._target is None and not self.must_wait():
            await self._route(self._waiting_events.popleft())
