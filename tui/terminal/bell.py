"""Calls for the user's attention: bell or notification, and only when unfocused.

Text that goes to the terminal is cleaned: a folder's name cannot become a command of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from textual.timer import Timer

from permissions.base.text.sanitize import sanitize
from tui.status_line.hint import SetTimer

MAX_CHARS: Final = 120
ASK_FOCUS: Final = "\x1b[?1004$p"
"""Asks whether the terminal reports changes of the focus."""
REPORTS_FOCUS: Final = ("\x1b[?1004;1$y", "\x1b[?1004;2$y")
"""The answers that say so."""
AWAY_S: Final = 10.0
"""Without a key for that long the user may look elsewhere, where the focus is not reported."""
_BELL: Final = "\x07"
_OSC_9: Final = "\x1b]9;{}\x1b\\"
_OSC_99: Final = "\x1b]99;i=agent-tui;{}\x1b\\"
_OSC_777: Final = "\x1b]777;notify;agent-tui;{}\x1b\\"
_CHANNELS: Final[Mapping[str, tuple[str, str]]] = {
    "auto": (_OSC_9, _BELL),
    "iterm2": (_OSC_9, ""),
    "iterm2_with_bell": (_OSC_9, _BELL),
    "kitty": (_OSC_99, ""),
    "ghostty": (_OSC_777, ""),
    "terminal_bell": ("", _BELL),
    "notifications_disabled": ("", ""),
}
"""By the value of the setting: the notification, and its sound."""


class TerminalBell:
    """Tracks whether the window has the focus, and notifies the user where it has not."""

    def __init__(
        self,
        write: Callable[[str], None],
        channel: Callable[[], str],
        name: Callable[[], str],
        idle_s: Callable[[], float],
        set_timer: SetTimer,
        *,
        is_in_tmux: bool = False,
    ) -> None:
        """`write` goes to the terminal; `channel` is the setting `preferredNotifChannel`.

        `name` is the project's; `idle_s` is how long ago the last key was pressed.
        """
        self._is_in_tmux = is_in_tmux
        self._write = write
        self._channel = channel
        self._name = name
        self._idle_s = idle_s
        self._set_timer = set_timer
        self._timer: Timer | None = None
        self._is_focused: bool | None = None

    def set_focus(self, is_focused: bool) -> None:
        """Take the focus that the terminal reports."""
        self._is_focused = is_focused

    def reports_focus(self) -> None:
        """The terminal reports changes of the focus, which the window has at the start."""
        if self._is_focused is None:
            self._is_focused = True

    @property
    def _is_watched(self) -> bool:
        return self._idle_s() < AWAY_S if self._is_focused is None else self._is_focused

    def call(self, text: str) -> bool:
        """Request attention; return whether anything was sent."""
        notification, bell = _CHANNELS.get(self._channel(), _CHANNELS["auto"])
        if self._is_watched or not (notification or bell):
            return False
        name = self._name()
        text = f"{name}: {text}" if name else text
        sequence = notification.format(_one_line(text).replace(";", ","))
        self._write(self._passed_on(sequence) + bell)
        return True

    def ask(self, text: str) -> None:
        """Request attention for a question; later, where the user may leave before it is answered.

        Without reports of the focus only keys show that somebody is there.
        """
        self.clear_question()
        if not self.call(text) and self._is_focused is None:

            def repeat_bell() -> None:
                self.call(text)

            self._timer = self._set_timer(max(0.0, AWAY_S - self._idle_s()), repeat_bell)

    def clear_question(self) -> None:
        """The question is no longer open."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _passed_on(self, sequence: str) -> str:
        """Return it in the form in which a terminal multiplexer hands it to its terminal."""
        if sequence and self._is_in_tmux:
            return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
        return sequence


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())[:MAX_CHARS]
