"""Notifies the user by bell or notification, only while the window has no focus.

Text is sanitized before it is written: a directory's name must not control the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from textual.timer import Timer

from permissions.base.text.sanitize import sanitize
from tui.status_line.hint import SetTimer

MAX_CHARS: Final = 120
ASK_FOCUS: Final = "\x1b[?1004$p"
"""Queries whether the terminal reports changes of the focus."""
REPORTS_FOCUS: Final = ("\x1b[?1004;1$y", "\x1b[?1004;2$y")
"""The replies that confirm this."""
AWAY_S: Final = 10.0
"""Without focus reports: after this long without a key the user may be looking elsewhere."""
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
"""By the setting's value: the format of the notification, and the bell."""


class TerminalBell:
    """Tracks whether the window has the focus, and notifies the user if it has not."""

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
        """`write` writes to the terminal; `channel` returns the setting `preferredNotifChannel`.

        `name` returns the project's name; `idle_s` the seconds since the last key.
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
        """Store the focus that the terminal reports."""
        self._is_focused = is_focused

    def reports_focus(self) -> None:
        """Note that the terminal reports the focus, which the window has at the start."""
        if self._is_focused is None:
            self._is_focused = True

    @property
    def _is_watched(self) -> bool:
        return self._idle_s() < AWAY_S if self._is_focused is None else self._is_focused

    def call(self, text: str) -> bool:
        """Notify the user unless they are watching; return whether anything was written."""
        notification, bell = _CHANNELS.get(self._channel(), _CHANNELS["auto"])
        if self._is_watched or not (notification or bell):
            return False
        name = self._name()
        text = f"{name}: {text}" if name else text
        sequence = notification.format(_one_line(text).replace(";", ","))
        self._write(self._wrap_for_tmux(sequence) + bell)
        return True

    def ask(self, text: str) -> None:
        """Notify the user of a question.

        If the terminal does not report the focus, and the user is present, notify later instead.
        """
        self.clear_question()
        if not self.call(text) and self._is_focused is None:

            def repeat_bell() -> None:
                self.call(text)

            self._timer = self._set_timer(max(0.0, AWAY_S - self._idle_s()), repeat_bell)

    def clear_question(self) -> None:
        """Cancel a later notification of the question, which is no longer open."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _wrap_for_tmux(self, sequence: str) -> str:
        """Return a sequence in the form that tmux, if used, passes on to its terminal."""
        if sequence and self._is_in_tmux:
            return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
        return sequence


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())[:MAX_CHARS]
