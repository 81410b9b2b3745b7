"""Writes messages for users; on a terminal, lines are wrapped between words."""

from __future__ import annotations

import os
from typing import Final, TextIO

_USUAL_WIDTH: Final = 80
_LEAST_WIDTH: Final = 20
"""Narrower terminals break lines themselves, inside words."""


def write_message(stream: TextIO, text: str) -> None:
    """Write a text and a line break. Raises OSError."""
    if stream.isatty():
        from textwrap import wrap  # not at every start

        try:
            width = max(_LEAST_WIDTH, os.get_terminal_size(stream.fileno()).columns)
        except OSError:
            width = _USUAL_WIDTH
        rows: list[str] = []
        for line in text.split("\n"):
            rows += wrap(
                line,
                width,
                replace_whitespace=False,
                break_long_words=False,
                break_on_hyphens=False,
            ) or [""]
        text = "\n".join(rows)
    stream.write(f"{text}\n")
