"""What a failure of the program leaves on the terminal: where it happened, and no values.

Textual prints every local variable of every frame. Here these hold the conversation, contents of
files and the environment with its keys, on a screen that users copy into bug reports.
"""

from __future__ import annotations

import sys
import traceback
from typing import Final, Generic, TypeVar

from textual.app import App

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.app.App": ("_close_messages_no_wait", "_exit_renderables", "_fatal_error")
}
"""What this module uses of Textual that Textual does not promise."""


class CrashReport(App[ReturnType], Generic[ReturnType]):
    """An app that ends with a plain traceback."""

    def _fatal_error(self) -> None:
        """Leave the exception that is being handled on the normal screen."""
        from rich.text import Text  # only ever needed once

        report = "".join(map(_printable, traceback.format_exc()))
        advice = "Please report this:"
        if isinstance(sys.exception(), ImportError):
            # Modules are loaded at their first use, and an update replaces them.
            advice = "If it was updated while it ran, start it again; otherwise please report this:"
        lines = f"agent-tui crashed. {advice}\n\n{report.rstrip()}"
        self._exit_renderables.append(Text(lines, overflow="fold"))
        self._close_messages_no_wait()


def _printable(character: str) -> str:
    """Return a character, or how Python writes it where the terminal could obey it."""
    return character if character.isprintable() or character == "\n" else repr(character)[1:-1]
