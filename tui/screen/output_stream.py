"""Finds the standard stream that the screen is drawn on."""

from __future__ import annotations

import os
import sys


def screen_fileno() -> int:
    """Return the descriptor of the stream to draw on: standard error, or else standard output.

    Textual draws on standard error; but `2>file` must not redirect the screen.
    """
    for stream in (sys.__stderr__, sys.__stdout__):
        if stream is not None and stream.isatty():
            return stream.fileno()
    return sys.__stderr__.fileno() if sys.__stderr__ is not None else 2


def terminal_size() -> tuple[int, int] | None:
    """Return columns and rows of the terminal that is drawn on; None without a terminal."""
    try:
        columns, lines = os.get_terminal_size(screen_fileno())
    except OSError:
        return None
    return columns, lines
