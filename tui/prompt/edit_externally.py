"""Hands the terminal to the user's own editor and takes it back."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from permissions.base.text.sanitize import sanitize
from tui.prompt.external_editor import EditorFailed


class LendsTerminal(Protocol):
    """The running program, as an editor borrows its terminal."""

    def suspend(self) -> AbstractContextManager[None]: ...
    def invalidate_screen(self) -> None: ...


class ShowsMessages(Protocol):
    """Where users see what went wrong."""

    def notice(self, text: str, level: str = "info") -> None: ...
    def hint(self, text: str) -> None: ...


class Editing:
    """The user's editor, where they have one."""

    def __init__(
        self,
        screen: LendsTerminal,
        messages: ShowsMessages,
        display_path: Callable[[Path], str],
        edit_text: Callable[[str, str], str] | None,
        edit_path: Callable[[Path], None] | None,
    ) -> None:
        """Take what runs the editor; None where there is none."""
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
        """Edit a text in a file of this name; None leaves it as it was."""
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
        """Write a text on the terminal's own screen, where its scrollback stores it."""
        with self._screen.suspend():
            _show_until_enter(sanitize(text))
        self._screen.invalidate_screen()

    def file(self, path: Path) -> None:
        """Open a file; the screen is the editor's until it ends."""
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
    """Write a text and wait; Ctrl+C goes back, too, and does not end the program."""
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
