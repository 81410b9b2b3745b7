"""Reports a crash as a traceback without the values of variables.

Textual prints the local variables of every frame. Here they contain the conversation, file contents
and the environment with its keys, and users copy them into bug reports.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from textual.app import App

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.app.App": ("_close_messages_no_wait", "_exit_renderables", "_fatal_error")
}
"""Private names of Textual that this module uses."""


class CrashReport(App[ReturnType], Generic[ReturnType]):
    """An app that ends with a plain traceback."""

    without_secrets: Callable[[str], str] = str
    """Returns what may be printed of a report; a subclass knows the secrets."""

    def _fatal_error(self) -> None:
        """End the app and print the exception that is being handled on the normal screen."""
        from rich.text import Text  # needed at most once

        # The text of an error may contain the value that it is about.
        report = "".join(map(_printable, self.without_secrets(traceback.format_exc())))
        advice = "Please report this:"
        if isinstance(sys.exception(), ImportError):
            # Modules are loaded at their first use; an update in the meantime replaces them.
            advice = "If it was updated while it ran, start it again; otherwise please report this:"
        lines = f"agent-tui crashed. {advice}\n\n{report.rstrip()}"
        self._exit_renderables.append(Text(lines, overflow="fold"))
        self._close_messages_no_wait()


def _printable(character: str) -> str:
    """Return a character, or its escaped form if it is a control character."""
    return character if character.isprintable() or character == "\n" else repr(character)[1:-1]
