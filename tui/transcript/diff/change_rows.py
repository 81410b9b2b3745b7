"""A file's change as rows, which are made when visible: a long change has thousands."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final, Generic, TypeVar, overload

from agent.display import DiffDisplay
from tui.screen.width import is_plain
from tui.text.highlight import Highlighter, language_of
from tui.text.styled_rows import FAINT, MUTED, Row, row
from tui.text.wrap import TAB_CELLS
from tui.transcript.diff.diff_view import DiffLine, diff_line_rows, diff_texts, line_room
from tui.transcript.diff.split_rows import (
    SplitLine,
    column_cells,
    is_split,
    split_line_rows,
    split_lines,
)

_CELLS_PER_CHARACTER: Final = 2
"""Maximum width of a character, except for tabs."""


def change_rows(
    display: DiffDisplay, width_cells: int, highlighter: Highlighter, *, indent: int = 3
) -> Sequence[Row]:
    """Return the rows of a change; cached until highlighting becomes ready."""
    looks = highlighter.generation, highlighter.is_on, is_split(width_cells)
    return _change_rows(display, width_cells, highlighter, indent, looks)


def diff_rows(
    display: DiffDisplay,
    width_cells: int,
    *,
    highlighter: Highlighter,
    indent: int = 3,
    max_rows: int | None = None,
) -> list[Row]:
    """Return the rows of a change; at most `max_rows`, the last of which counts the rest."""
    rows = _make_rows(display, width_cells, highlighter, indent)
    if max_rows is None or len(rows) <= max_rows:
        return list(rows)
    hidden = len(rows) - max_rows + 1
    rest = row((" " * indent + f"… {hidden} more lines", MUTED), is_copied=False)
    return [*rows[: max_rows - 1], rest]


@lru_cache(maxsize=2)
def _change_rows(
    display: DiffDisplay,
    width_cells: int,
    highlighter: Highlighter,
    indent: int,
    _looks: tuple[int, bool, bool],
) -> Sequence[Row]:
    return _make_rows(display, width_cells, highlighter, indent)


def _make_rows(
    display: DiffDisplay, width_cells: int, highlighter: Highlighter, indent: int
) -> Sequence[Row]:
    hunks = diff_texts(display.old, display.new).hunks
    if not hunks:
        return [row((" " * indent, MUTED), ("no visible change", MUTED), is_copied=False)]
    # A new or deleted file has one side only.
    if display.old and display.new and is_split(width_cells):
        pairs = [[*split_lines(hunk)] for hunk in hunks]
        return _SplitRows(display, pairs, width_cells, highlighter, indent)
    return _UnifiedRows(display, hunks, width_cells, highlighter, indent)


_Line = TypeVar("_Line")


class _HunkRows(Sequence[Row], Generic[_Line]):
    """The rows of hunks, with a separator row between two hunks."""

    def __init__(
        self,
        display: DiffDisplay,
        hunks: Sequence[Sequence[_Line]],
        width_cells: int,
        highlighter: Highlighter,
        indent: int,
    ) -> None:
        language = language_of(display.path)
        self._old_lines = highlighter.block(display.old, language)
        self._new_lines = highlighter.block(display.new, language)
        self._first_line = display.first_line
        self._width = width_cells
        self._indent = indent
        self._lines: list[_Line | None] = []
        """The lines from top to bottom; None between two hunks."""
        for position, hunk in enumerate(hunks):
            if position:
                self._lines.append(None)
            self._lines.extend(hunk)
        highest = max(self._number_of(line) for line in self._lines if line is not None)
        self._digits = len(str(highest + display.first_line - 1))
        self._ends = list(accumulate(map(self._height, self._lines)))
        """Number of rows up to the end of each line."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._ends[-1]

    def __iter__(self) -> Iterator[Row]:
        """Make all rows."""
        for line in self._lines:
            yield from self._rows_of(line)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Make a row, or a list for a slice."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return self._rows_between(start, stop)[::step] if start < stop else []
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        return self._rows_between(number, number + 1)[0]

    def _rows_between(self, start: int, stop: int) -> list[Row]:
        first = bisect_right(self._ends, start)
        skip_count = start - (self._ends[first - 1] if first else 0)
        rows: list[Row] = []
        for line in self._lines[first:]:
            if len(rows) >= skip_count + stop - start:
                break
            rows.extend(self._rows_of(line))
        return rows[skip_count : skip_count + stop - start]

    def _height(self, line: _Line | None) -> int:
        return 1 if line is None else self._height_of(line)

    def _rows_of(self, line: _Line | None) -> Iterator[Row]:
        if line is None:
            gap = " " * (self._indent + self._digits) + " ⋯"
            return iter((row((gap, FAINT), is_copied=False),))
        return self._rows_of_line(line)

    @abstractmethod
    def _number_of(self, line: _Line) -> int:
        """Return the higher line number of a line."""

    @abstractmethod
    def _height_of(self, line: _Line) -> int:
        """Return the number of rows of a line."""

    @abstractmethod
    def _rows_of_line(self, line: _Line) -> Iterator[Row]:
        """Make the rows of a line."""


class _UnifiedRows(_HunkRows[DiffLine]):
    """Old lines above new lines."""

    def _number_of(self, line: DiffLine) -> int:
        return max(line.old_number or 0, line.new_number or 0)

    def _height_of(self, line: DiffLine) -> int:
        room = line_room(self._width, self._digits, self._indent)
        rows = _known_height(line, room)
        return sum(1 for _ in self._rows_of_line(line)) if rows is None else rows

    def _rows_of_line(self, line: DiffLine) -> Iterator[Row]:
        return diff_line_rows(
            line,
            self._old_lines,
            self._new_lines,
            self._digits,
            self._width,
            self._indent,
            first_line=self._first_line,
        )


class _SplitRows(_HunkRows[SplitLine]):
    """Old lines beside new lines."""

    def _number_of(self, line: SplitLine) -> int:
        sides = (line.old, line.new)
        return max(max(s.old_number or 0, s.new_number or 0) for s in sides if s is not None)

    def _height_of(self, line: SplitLine) -> int:
        columns = column_cells(self._width, self._indent)
        heights = [
            _known_height(side, line_room(cells, self._digits, 0))
            for side, cells in zip((line.old, line.new), columns, strict=True)
            if side is not None
        ]
        cached_heights = [height for height in heights if height is not None]
        if len(cached_heights) < len(heights):
            return sum(1 for _ in self._rows_of_line(line))
        return max(cached_heights)

    def _rows_of_line(self, line: SplitLine) -> Iterator[Row]:
        return split_line_rows(
            line,
            self._old_lines,
            self._new_lines,
            self._digits,
            self._width,
            self._indent,
            first_line=self._first_line,
        )


def _known_height(line: DiffLine, room: int) -> int | None:
    """Return how many rows of `room` cells a line needs; None if only wrapping can tell."""
    text = line.text
    if len(text) * _CELLS_PER_CHARACTER + text.count("\t") * TAB_CELLS <= room:
        return 1
    rest = text.lstrip("\t")
    if is_plain(rest):
        cells = (len(text) - len(rest)) * TAB_CELLS + len(rest)
        return max(1, -(-cells // room))
    return None
