"""Which of the program's streams leads to the screen."""

from __future__ import annotations

import os
import sys


def screen_fileno() -> int:
    """Return the descriptor that is drawn on: standard error, else output.

    As Textual does where both are one; `2>file` must not take the screen along.
    """
    for stream in (sys.__stderr__, sys.__stdout__):
        if stream is not None and stream.isatty():
            return stream.fileno()
    return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2


def terminal_size() -> tuple[int, int] | None:
    """Return columns and rows of the terminal that is drawn on; None where there is none."""
    try:
        columns, lines = os.get_terminal_size(screen_fileno())
    except OSError:
        return None
    return columns, lines
