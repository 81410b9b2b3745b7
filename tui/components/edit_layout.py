"""Text being edited as rows of cells, with the way from cursor to cell and back. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui.screen.width import clusters, is_plain
from tui.text.draft import Chip, is_chip


@dataclass(frozen=True, slots=True)
class EditRow:
    """One row: characters `start` to `end` of the text, the line break not included."""

    start: int
    end: int
    cells: tuple[tuple[int, int], ...]
    """For each cluster: index of its first character, and the column where it begins."""
    width: int
    starts_line: bool


def edit_rows(text: str, width_cells: int, chips: Mapping[str, Chip]) -> list[EditRow]:
    """Return the rows of a text, broken after spaces; the cursor always has a cell of its own."""
    width = max(2, width_cells)
    rows: list[EditRow] = []
    start = 0
    for line in text.split("\n"):
        rows.extend(_line_rows(line, start, width, chips))
        start += len(line) + 1
    return rows


def place_of(rows: Sequence[EditRow], cursor: int) -> tuple[int, int]:
    """Return row and column of the cursor."""
    for number in range(len(rows) - 1, -1, -1):
        line = rows[number]
        if line.start <= cursor:
            for index, column in line.cells:
                if index >= cursor:
                    return number, column
            return number, line.width
    return 0, 0


def cursor_at(rows: Sequence[EditRow], number: int, column: int) -> int:
    """Return the cursor nearest to a cell."""
    line = rows[max(0, min(number, len(rows) - 1))]
    best = line.end
    for position, (index, _) in enumerate(line.cells):
        right = line.cells[position + 1][1] if position + 1 < len(line.cells) else line.width
        if column < right:
            best = index
            break
    else:
        # On a row that was broken softly the end belongs to the next row.
        is_broken = number + 1 < len(rows) and not rows[number + 1].starts_line
        if is_broken and line.cells:
            best = line.cells[-1][0]
    return best


def _plain_rows(line: str, start: int, width: int) -> list[EditRow]:
    """The same for a line in which every character is one cell: found without looking at each."""
    rows: list[EditRow] = []
    first, count = 0, len(line)
    while True:
        end = min(count, first + width - 1)
        if end < count:
            space = line.rfind(" ", first, end)
            # A space at the very start of a row is no place to break it.
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
        placed: list[tuple[int, int]] = []
        last_space = -1
        position = first
        while position < len(cells):
            index, size, is_space = cells[position]
            # One cell stays free for the cursor behind the last character.
            if column + size > width - 1 and placed:
                break
            placed.append((index, column))
            column += size
            position += 1
            if is_space:
                last_space = position
        if position < len(cells) and last_space > first:
            keep = last_space - first
            placed = placed[:keep]
            position = last_space
            column = sum(size for _, size, _ in cells[first:position])
        begin = cells[first][0] if first < len(cells) else start
        end = cells[position][0] if position < len(cells) else start + len(line)
        rows.append(EditRow(begin, end, tuple(placed), column, starts_line=not rows))
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
