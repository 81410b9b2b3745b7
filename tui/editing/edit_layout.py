"""Lays out text being edited in rows of cells, and converts between cursor and cell. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import overload

from msgspec import Struct
from msgspec.structs import replace

from tui.editing.draft import Chip, is_chip
from tui.screen.width import clusters, is_plain


class EditRow(Struct, frozen=True):
    """One row: characters `start` to `end` of the text, without the line break."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]
    """For each cluster: index of its first character, and its first column."""
    width: int
    starts_line: bool


class EditRows(Sequence[EditRow]):
    """The rows of a text; positions in a row are computed when it is accessed."""

    def __init__(self, lines: Sequence[tuple[EditRow, ...]], starts: Sequence[int]) -> None:
        """`lines` has the rows of each line, with positions from 0; `starts` each line's start."""
        self._lines = lines
        self._starts = starts
        self._ends = list(accumulate(map(len, lines)))
        """Number of rows up to the end of each line."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, index: int) -> EditRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[EditRow]: ...
    def __getitem__(self, index: int | slice) -> EditRow | list[EditRow]:
        """Return a row, or a list for a slice."""
        if isinstance(index, slice):
            return [self._row(number) for number in range(*index.indices(len(self)))]
        number = index + len(self) if index < 0 else index
        if not 0 <= number < len(self):
            raise IndexError(index)
        return self._row(number)

    def _row(self, number: int) -> EditRow:
        line = bisect_right(self._ends, number)
        row, offset = self._lines[line][number - self._ends[line]], self._starts[line]
        if not offset:
            return row
        cells = tuple((index + offset, column) for index, column in row.cells)
        return replace(row, start=row.start + offset, end=row.end + offset, cells=cells)


class EditLayout:
    """Lays out a text after each change; only new lines are laid out again."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._text = ""
        self._chips: Mapping[str, Chip] = {}
        self._rows: EditRows | None = None
        self._width = -1
        self._line_cache: dict[str, tuple[EditRow, ...]] = {}

    def rows(self, text: str, width_cells: int, chips: Mapping[str, Chip]) -> EditRows:
        """Return the same rows as `edit_rows`."""
        if width_cells != self._width or chips != self._chips:
            self._line_cache = {}
        elif self._rows is not None and text is self._text:
            return self._rows
        width = max(2, width_cells)
        lines = text.split("\n")
        old_lines, new_lines = self._line_cache, {}
        for line in lines:
            if line not in new_lines:
                new_lines[line] = old_lines.get(line) or tuple(_line_rows(line, 0, width, chips))
        self._line_cache = new_lines
        self._text, self._chips, self._width = text, chips, width_cells
        starts = accumulate((len(line) + 1 for line in lines[:-1]), initial=0)
        self._rows = EditRows([new_lines[line] for line in lines], list(starts))
        return self._rows


def edit_rows(text: str, width_cells: int, chips: Mapping[str, Chip]) -> list[EditRow]:
    """Return the rows of a text, wrapped after spaces; each has a free cell for the cursor."""
    width = max(2, width_cells)
    rows: list[EditRow] = []
    start = 0
    for line in text.split("\n"):
        rows.extend(_line_rows(line, start, width, chips))
        start += len(line) + 1
    return rows


def place_of(rows: Sequence[EditRow], cursor: int) -> tuple[int, int]:
    """Return row and column of the cursor."""
    number = bisect_right(rows, cursor, key=lambda line: line.start) - 1
    if number < 0:
        return 0, 0
    line = rows[number]
    for index, column in line.cells:
        if index >= cursor:
            return number, column
    return number, line.width


def cursor_at(rows: Sequence[EditRow], number: int, column: int) -> int:
    """Return the cursor position nearest to a cell."""
    line = rows[max(0, min(number, len(rows) - 1))]
    best = line.end
    for position, (index, _) in enumerate(line.cells):
        right = line.cells[position + 1][1] if position + 1 < len(line.cells) else line.width
        if column < right:
            best = index
            break
    else:
        # At a soft wrap the end of the row is the start of the next row.
        is_broken = number + 1 < len(rows) and not rows[number + 1].starts_line
        if is_broken and line.cells:
            best = line.cells[-1][0]
    return best


def _plain_rows(line: str, start: int, width: int) -> list[EditRow]:
    """Return the rows of a line whose characters all have one cell, without examining each."""
    rows: list[EditRow] = []
    first, count = 0, len(line)
    while True:
        end = min(count, first + width - 1)
        if end < count:
            space = line.rfind(" ", first, end)
            # Do not break a row at a space at its start.
            end = space + 1 if space + 1 > first else end
        begin, stop = start + first, start + end
        cells = tuple(zip(range(begin, stop), range(end - first), strict=True))
        rows.append(EditRow(begin, stop, cells, end - first, starts_line=not rows))
        if end >= count:
            return rows
        first = end


def _line_rows(line: str, start: int, width: int, chips: Mapping[str, Chip]) -> list[EditRow]:
    if is_plain(line):
        return _plain_rows(line, start, width)
    cells = _cells(line, start, chips)
    rows: list[EditRow] = []
    first = 0
    while True:
        column = 0
        columns: list[tuple[int, int]] = []
        last_space = -1
        position = first
        while position < len(cells):
            index, size, is_space = cells[position]
            # One cell remains free for the cursor after the last character.
            if column + size > width - 1 and columns:
                break
            columns.append((index, column))
            column += size
            position += 1
            if is_space:
                last_space = position
        if position < len(cells) and last_space > first:
            length = last_space - first
            columns = columns[:length]
            position = last_space
            column = sum(size for _, size, _ in cells[first:position])
        begin = cells[first][0] if first < len(cells) else start
        end = cells[position][0] if position < len(cells) else start + len(line)
        rows.append(EditRow(begin, end, tuple(columns), column, starts_line=not rows))
        if position >= len(cells):
            return rows
        first = position


def _cells(line: str, start: int, chips: Mapping[str, Chip]) -> list[tuple[int, int, bool]]:
    """Return (index, width, is_space) of each cluster."""
    cells: list[tuple[int, int, bool]] = []
    index = start
    for grapheme, width in clusters(line):
        if is_chip(grapheme) and grapheme in chips:
            width = len(chips[grapheme].label)
        cells.append((index, width, grapheme == " "))
        index += len(grapheme)
    return cells
