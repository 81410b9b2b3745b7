"""Calls for a person who looks elsewhere: bell or notification, and only when unfocused.

Text that goes to the terminal is cleaned: a folder's name cannot become a command of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from agent.sanitize import sanitize

MAX_CHARS: Final = 120
_BELL: Final = "\x07"
_NOTIFICATION: Final = "\x1b]9;{}\x1b\\"


class Attention:
    """Knows whether the window has the focus, and speaks up where it has not."""

    def __init__(self, write: Callable[[str], None], channel: Callable[[], str]) -> None:
        """`write` goes to the terminal; `channel` is the setting `preferredNotifChannel`."""
        self._write = write
        self._channel = channel
        self._is_focused = True

    def focused(self, is_focused: bool) -> None:
        """Take over what the terminal says; terminals that say nothing count as looked at."""
        self._is_focused = is_focused

    def call(self, text: str) -> bool:
        """Ask for attention; return whether anything was sent."""
        channel = self._channel()
        if self._is_focused or channel == "notifications_disabled":
            return False
        if channel in {"terminal_bell", "bell"}:
            self._write(_BELL)
        else:
            self._write(_NOTIFICATION.format(_one_line(text)) + _BELL)
        return True


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())[:MAX_CHARS]
