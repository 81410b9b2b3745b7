"""The title and the progress indicator of the terminal's window; both are restored at the end.

Only changes are written. Text is sanitized: a directory's name must not control the terminal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from permissions.base.text.sanitize import sanitize

State = Literal["idle", "working", "asking"]

MAX_CHARS: Final = 120
SAVE_TITLE: Final = "\x1b[22;2t"
RESTORE_TITLE: Final = "\x1b[23;2t"
_TITLE: Final = "\x1b]2;{}\x1b\\"
_PROGRESS: Final[Mapping[State, str]] = {
    "idle": "\x1b]9;4;0\x1b\\",
    "working": "\x1b]9;4;3\x1b\\",
    "asking": "\x1b]9;4;4;100\x1b\\",
}
"""OSC 9;4 by state: no progress, indeterminate, paused."""
_SIGNS: Final[Mapping[State, str]] = {"idle": "", "working": "● ", "asking": "? "}
_KNOW_PROGRESS: Final = frozenset({"ghostty", "WezTerm", "iTerm.app"})
"""Values of `TERM_PROGRAM`. Other terminals may show OSC 9 as a notification."""


class TerminalTitle:
    """Shows the activity in the window's title and progress indicator."""

    def __init__(self, write: Callable[[str], None], env: Mapping[str, str]) -> None:
        """`write` writes to the terminal, which `env` identifies."""
        self._write = write
        self._has_title = not _is_set(env, "CLAUDE_CODE_DISABLE_TERMINAL_TITLE")
        self._knows_progress = knows_progress(env)
        self._wants_progress: bool | None = None
        self._title = ""
        self._progress: State = "idle"
        self._name = ""
        self._state: State = "idle"

    def name(self, text: str) -> None:
        """Set the name in the title: the session's name, or the directory's."""
        self._name = text
        self.show(self._state)

    def set_progress_enabled(self, value: bool | None) -> None:
        """Apply `terminalProgressBarEnabled`; None: only in terminals that support progress."""
        self._wants_progress = value

    def show(self, state: State) -> None:
        """Show the activity; writes only changes."""
        self._state = state
        title = _one_line(f"{_SIGNS[state]}{self._name}")
        if self._has_title and self._name and title != self._title:
            first = "" if self._title else SAVE_TITLE
            self._title = title
            self._write(first + _TITLE.format(title))
        if state != self._progress and self._shows_progress:
            self._progress = state
            self._write(_PROGRESS[state])

    @property
    def at_stop(self) -> str:
        """Return the sequence that restores the window, for the end and for a suspend."""
        title = RESTORE_TITLE if self._title else ""
        return title + (_PROGRESS["idle"] if self._progress != "idle" else "")

    @property
    def at_start(self) -> str:
        """Return the sequence that shows title and progress again after a suspend."""
        title = SAVE_TITLE + _TITLE.format(self._title) if self._title else ""
        return title + (_PROGRESS[self._progress] if self._progress != "idle" else "")

    @property
    def _shows_progress(self) -> bool:
        return self._knows_progress if self._wants_progress is None else self._wants_progress


def knows_progress(env: Mapping[str, str]) -> bool:
    """Whether the terminal is known to show progress (OSC 9;4)."""
    return bool(
        env.get("TERM_PROGRAM") in _KNOW_PROGRESS
        or env.get("TERM") == "xterm-ghostty"
        or env.get("WT_SESSION")
        or env.get("ConEmuPID")
    )


def _is_set(env: Mapping[str, str], name: str) -> bool:
    return env.get(name, "").strip().lower() not in {"", "0", "false"}


def _one_line(text: str) -> str:
    return " ".join(sanitize(text).split())[:MAX_CHARS]
