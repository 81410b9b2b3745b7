"""Writes lines without buffering, with marks for terminals that distinguish prompts from output."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from textwrap import wrap
from typing import Final, TextIO

from permissions.base.text.sanitize import sanitize

BELL: Final = "\a"
PROMPT_STARTS: Final = "\x1b]133;A\x1b\\"
OUTPUT_STARTS: Final = "\x1b]133;C\x1b\\"
OUTPUT_ENDS: Final = "\x1b]133;D\x1b\\"
"""Marks (OSC 133) by which terminals and screen readers jump from prompt to prompt."""


class LineOutput:
    """Writes lines to a terminal; control characters in them are removed."""

    def __init__(
        self, stream: TextIO, *, has_marks: bool, columns: Callable[[], int | None] = lambda: None
    ) -> None:
        """`has_marks` is False for output that is not a terminal, or a very simple one.

        `columns` returns the terminal's width, at which lines are wrapped; None: do not wrap.
        """
        self._stream = stream
        self._has_marks = has_marks
        self._columns = columns

    def write(self, lines: Iterable[str]) -> None:
        """Write lines, in order."""
        columns = self._columns()
        for line in lines:
            self._write(_wrap_lines(sanitize(line), columns) + "\n")

    def mark(self, sign: str) -> None:
        """Write one of the marks above, the bell, or another sequence that keeps the cursor."""
        if self._has_marks or sign == BELL:
            self._write(sign)

    def _write(self, text: str) -> None:
        # Ignored if the terminal is closed: the end of the input ends the program.
        with contextlib.suppress(OSError):
            try:
                self._stream.write(text)
            except UnicodeEncodeError as error:
                data = text.encode(error.encoding, "backslashreplace")
                self._stream.write(data.decode(error.encoding))
            self._stream.flush()


def _wrap_lines(text: str, columns: int | None) -> str:
    """Wrap lines at spaces, which the terminal would break within words."""
    if columns is None or len(text) < columns:
        return text
    pieces = (
        wrap(line, columns - 1, break_long_words=False, break_on_hyphens=False) or [""]
        for line in text.split("\n")
    )
    return "\n".join("\n".join(lines) for lines in pieces)
