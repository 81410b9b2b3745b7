"""Runs the user's editor on the terminal while the screen is suspended."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from permissions.base.text.sanitize import sanitize
from tui.prompt.external_editor import EditorFailed


class SuspendsScreen(Protocol):
    """The running program, which can suspend its use of the terminal."""

    def suspend(self) -> AbstractContextManager[None]: ...
    def invalidate_screen(self) -> None: ...


class ShowsMessages(Protocol):
    """Shows messages to users."""

    def notice(self, text: str, level: str = "info") -> None: ...
    def hint(self, text: str) -> None: ...


class Editing:
    """The user's editor, if there is one."""

    def __init__(
        self,
        screen: SuspendsScreen,
        messages: ShowsMessages,
        display_path: Callable[[Path], str],
        edit_text: Callable[[str, str], str] | None,
        edit_path: Callable[[Path], None] | None,
    ) -> None:
        """`edit_text` and `edit_path` run the editor; None without one."""
        self._screen = screen
        self._messages = messages
        self._display_path = display_path
        self._edit_text = edit_text
        self._edit_path = edit_path

    @property
    def has_editor(self) -> bool:
        """Whether texts can be edited."""
        return self._edit_text is not None

    def text(self, text: str, name: str = "prompt.md") -> str | None:
        """Return the text edited in a file with this name; None if that failed."""
        if self._edit_text is None:
            self._messages.hint("no editor: set $VISUAL or $EDITOR")
            return None
        try:
            with self._screen.suspend():
                return self._edit_text(text, name)
        except EditorFailed as error:
            self._messages.notice(str(error), "warning")
            return None
        finally:
            self._screen.invalidate_screen()

    def to_terminal(self, text: str) -> None:
        """Write a text on the terminal's normal screen, so that it is in the scrollback."""
        with self._screen.suspend():
            _show_until_enter(sanitize(text))
        self._screen.invalidate_screen()

    def file(self, path: Path) -> None:
        """Open a file in the editor, which has the terminal until it ends."""
        if self._edit_path is None:
            self._messages.notice(
                f"no editor: set $VISUAL or $EDITOR, or open {self._display_path(path)} yourself",
                "warning",
            )
            return
        try:
            with self._screen.suspend():
                self._edit_path(path)
        except EditorFailed as error:
            self._messages.notice(str(error), "warning")
        self._screen.invalidate_screen()


def _show_until_enter(text: str) -> None:
    """Write a text and wait for Enter; Ctrl+C also goes back, without ending the program."""
    try:
        in_force = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            sys.stdout.write(text + "\n\n[press enter to go back] ")
            sys.stdout.flush()
            sys.stdin.readline()
        finally:
            signal.signal(signal.SIGINT, in_force)
    except KeyboardInterrupt:
        return
