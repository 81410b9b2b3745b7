"""Temporary hints in the status line, such as "copied" or "press ctrl+c again"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from textual.timer import Timer

HINT_S: Final = 2.0

SetTimer = Callable[[float, Callable[[], None]], Timer]
"""Calls a function once after this many seconds; the timer can be stopped."""


class Hint:
    """One text at a time; a new text replaces the old one and restarts the time."""

    def __init__(self, set_timer: SetTimer, show: Callable[[], None]) -> None:
        """`show` is called when `text` has changed."""
        self._set_timer = set_timer
        self._show = show
        self._timer: Timer | None = None
        self.text = ""
        """The current hint; "" without one."""

    def show(self, text: str, for_s: float = HINT_S) -> None:
        """Show a text for a moment."""
        self.text = text
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._set_timer(for_s, self._clear)
        self._show()

    def hide(self, text: str) -> None:
        """Hide this text if it is the current one."""
        if self._timer is not None and self.text == text:
            self._timer.stop()
            self._clear()

    def _clear(self) -> None:
        self.text = ""
        self._timer = None
        self._show()
