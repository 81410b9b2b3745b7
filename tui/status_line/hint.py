"""What the status line shows for a moment: copied, press again, nothing there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.timer import Timer

HINT_S: Final = 2.0

SetTimer = Callable[[float, Callable[[], None]], Timer]
"""Calls something once after so many seconds; the timer can be stopped."""


class Hint:
    """One text at a time; a new one takes the place of the old one, and its time."""

    def __init__(self, set_timer: SetTimer, show: Callable[[], None]) -> None:
        """Take what shows `text` where hints are shown."""
        self._set_timer = set_timer
        self._show = show
        self._timer: Timer | None = None
        self.text = ""
        """Empty while there is none."""

    def show(self, text: str, for_s: float = HINT_S) -> None:
        """Show a text for a moment."""
        self.text = text
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(for_s, self._drop)
        self._show()

    def hide(self, text: str) -> None:
        """Show this text no longer, where it is the one shown."""
        if self._timer is not None and self.text == text:
            self._timer.stop()
            self._drop()

    def _drop(self) -> None:
        self.text = ""
        self._timer = None
        self._show()
