"""A terminal emulator for a program's output, which counts changed cells."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any, Final

import pyte
from pyte.screens import Char

_PRIVATE_MODE_SHIFT: Final = 5
"""pyte shifts private modes left by this many bits to distinguish them from other modes."""
_ALTERNATE_SCREEN: Final = frozenset({47, 1047, 1049})

_STRING = re.compile("\x1b[P_^X\\]](?:[^\x07\x1b]|\x1b(?!\\\\))*(?:\x07|\x1b\\\\)")
_UNPARSED = re.compile(
    "\x1b\\[(?:[<=>][0-9;:]*[ -/]*|[0-9;:?]*[ -/]+)[@-~]|\x1b\\[\\?[0-9;]*[^0-9;hl]"
)
"""Sequences that pyte would treat as text: keyboard protocols, queries, cursor shapes."""
_COLONS = re.compile("\x1b\\[([0-9;:]*:[0-9;:]*)m")
_UNFINISHED = re.compile(
    "\x1b(?:\\[[0-9;:<=>?]*[ -/]*|[P_^X\\]](?:[^\x07\x1b]|\x1b(?!\\\\))*\x1b?)?\\Z"
)


class Emulator(pyte.Screen):
    """The screen of a terminal, with the alternate screen, which pyte lacks.

    Rows and columns are counted from 0. Feed bytes with `write`; colors and attributes are kept.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self._cells: list[tuple[Char, ...]] = []
        self._normal_screen: dict[int, Any] | None = None
        self._pending = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        super().__init__(columns, lines)
        self._stream = pyte.Stream(self)

    def write(self, data: bytes) -> None:
        """Process output; a sequence may be split anywhere between two calls."""
        text = self._pending + self._decoder.decode(data)
        partial = _UNFINISHED.search(text)
        self._pending = partial.group() if partial else ""
        if self._pending:
            text = text[: -len(self._pending)]
        text = _UNPARSED.sub("", _STRING.sub("", text))
        self._stream.feed(_COLONS.sub(_with_semicolons, text))

    @property
    def is_alternate(self) -> bool:
        """Whether the alternate screen is shown."""
        return self._normal_screen is not None

    def row_text(self, row: int) -> str:
        """Return the text of a row, without trailing blanks."""
        cells = self.buffer[row]
        return "".join(cells[column].data for column in range(self.columns)).rstrip()

    def text(self) -> str:
        """Return the whole screen, one line per row."""
        return "\n".join(self.row_text(row) for row in range(self.lines))

    def longest_run(self, character: str) -> int:
        """Return the length of the longest run of this character in a row.

        For a line that is being typed this is its newest state, even if a resize left older copies
        elsewhere on the screen.
        """
        runs = re.compile(f"(?:{re.escape(character)})+").findall(self.text())
        return max(map(len, runs), default=0) // len(character)

    def changed_cells(self) -> int:
        """Return the number of cells that changed since the last call."""
        current = [
            tuple(self.buffer[row][column] for column in range(self.columns))
            for row in range(self.lines)
        ]
        old_cells, self._cells = self._cells, current
        if len(old_cells) != len(current) or (old_cells and len(old_cells[0]) != self.columns):
            return self.lines * self.columns
        return sum(
            old != new
            for old_row, new_row in zip(old_cells, current, strict=True)
            if old_row != new_row
            for old, new in zip(old_row, new_row, strict=True)
        )

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Resize like terminals do on the alternate screen: rows are removed at the bottom."""
        lines = lines or self.lines
        if lines < self.lines:
            for row in range(lines, self.lines):
                self.buffer.pop(row, None)
            self.lines = lines
            self.cursor.y = min(self.cursor.y, lines - 1)
            self.set_margins()
        super().resize(lines, columns)

    def set_mode(self, *modes: int, **options: Any) -> None:
        """Set modes; save the normal screen on entering the alternate one."""
        if (
            options.get("private")
            and _ALTERNATE_SCREEN & set(modes)
            and self._normal_screen is None
        ):
            self._normal_screen = {row: dict(cells) for row, cells in self.buffer.items()}
            self.erase_in_display(2)
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        """Reset modes; restore the normal screen on leaving the alternate one."""
        if (
            options.get("private")
            and _ALTERNATE_SCREEN & set(modes)
            and self._normal_screen is not None
        ):
            normal_screen, self._normal_screen = self._normal_screen, None
            self.erase_in_display(2)
            for row, cells in normal_screen.items():
                self.buffer[row].update(cells)
        super().reset_mode(*modes, **options)

    @property
    def cursor_is_hidden(self) -> bool:
        """Whether the program switched the cursor off."""
        return 25 << _PRIVATE_MODE_SHIFT not in self.mode

    def report_device_status(self, *_: Any, **__: Any) -> None:
        """Leave replies to the pseudo-terminal's side."""

    def report_device_attributes(self, *_: Any, **__: Any) -> None:
        """Leave replies to the pseudo-terminal's side."""


def replies(data: bytes, emulator_cursor: tuple[int, int]) -> bytes:
    """Return a modern terminal's replies to the queries in a program's output.

    Args:
        data: what the program wrote.
        emulator_cursor: row and column, from 0.
    """
    row, column = emulator_cursor
    table: Mapping[bytes, bytes] = {
        b"\x1b[c": b"\x1b[?62;22c",
        b"\x1b[>c": b"\x1b[>1;10;0c",
        b"\x1b[6n": b"\x1b[%d;%dR" % (row + 1, column + 1),
        b"\x1b[?2026$p": b"\x1b[?2026;2$y",
        b"\x1b[?2048$p": b"\x1b[?2048;0$y",
        b"\x1b]10;?": b"\x1b]10;rgb:cccc/cccc/cccc\x1b\\",
        b"\x1b]11;?": b"\x1b]11;rgb:1111/1111/1111\x1b\\",
    }
    if b"\x1b" not in data:
        return b""
    return b"".join(reply for query, reply in table.items() if query in data)


def _with_semicolons(match: re.Match[str]) -> str:
    """Convert colon-separated SGR to forms that pyte supports: all underline shapes are equal."""
    parameters = []
    for parameter in match.group(1).split(";"):
        fields = parameter.split(":")
        if fields[0] in ("38", "48") and len(fields) > 4:
            fields = [*fields[:2], *fields[-3:]]
        elif fields[0] == "4":
            fields = ["24" if fields[1:2] == ["0"] else "4"]
        elif fields[0] == "58":
            continue
        parameters.append(";".join(fields))
    return f"\x1b[{';'.join(parameters)}m"
