"""Detects single, double and triple clicks."""

from __future__ import annotations

from typing import Final

from textual import events

_DOUBLE_CLICK_S: Final = 0.4
"""Maximum time between two presses of a double click."""


class ClickCount:
    """Counts presses of the mouse button in one cell; after a triple click it starts again at 1."""

    def __init__(self) -> None:
        """Start without a press."""
        self._cell = (-1, -1)
        self._pressed_s = 0.0
        self.count = 0
        """Count of the latest press: 1 for a click, 2 for a double and 3 for a triple click."""

    def press(self, event: events.MouseDown) -> int:
        """Count a press and return the count."""
        is_next = self.is_in_cell(event) and event.time - self._pressed_s < _DOUBLE_CLICK_S
        self.count = self.count % 3 + 1 if is_next else 1
        self._cell, self._pressed_s = _cell(event), event.time
        return self.count

    def is_in_cell(self, event: events.MouseEvent) -> bool:
        """Whether the pointer is in the cell of the latest press."""
        return _cell(event) == self._cell


def _cell(event: events.MouseEvent) -> tuple[int, int]:
    return int(event.screen_x), int(event.screen_y)
