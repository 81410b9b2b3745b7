"""Renders a table as rows: columns as wide as needed, or narrower and wrapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tui.text.styled_rows import FAINT, TEXT, Row, Run
from tui.text.wrap import runs_width, wrap

Cell = tuple[Sequence[Run], str]
"""Content and alignment: `left`, `center`, `right` or empty."""

_SEPARATOR: Final = " │ "
_MIN_CELLS: Final = 3


def table_rows(table: Sequence[Sequence[Cell]], width_cells: int) -> list[Row]:
    """Return the rows of a table whose first line is its header."""
    if not table or not table[0]:
        return []
    count = max(len(line) for line in table)
    widths = _column_widths(table, count, width_cells - len(_SEPARATOR) * (count - 1))
    rows: list[Row] = []
    for position, line in enumerate(table):
        rows.extend(_line_rows(line, widths))
        if position == 0:
            rule = "─┼─".join("─" * width for width in widths)
            rows.append(Row(((rule[: max(1, width_cells)], FAINT),), is_copied=False))
    return rows


def _column_widths(table: Sequence[Sequence[Cell]], count: int, room: int) -> list[int]:
    widths = [_MIN_CELLS] * count
    for line in table:
        for column, (runs, _) in enumerate(line):
            lines = wrap(runs, 10_000)
            widths[column] = max(widths[column], *(runs_width(part.runs) for part in lines))
    while sum(widths) > room and max(widths) > _MIN_CELLS:
        # The widest column shrinks first, so that narrow ones remain readable.
        widest = max(widths)
        column = widths.index(widest)
        others = [width for width in widths if width < widest]
        next_width = max(others) if others else _MIN_CELLS
        excess = sum(widths) - room
        widths[column] = max(_MIN_CELLS, min(widest - 1, max(next_width, widest - excess)))
    return widths


def _line_rows(line: Sequence[Cell], widths: Sequence[int]) -> list[Row]:
    cells = [
        (wrap(line[column][0], width), line[column][1]) if column < len(line) else ([], "")
        for column, width in enumerate(widths)
    ]
    height = max(1, *(len(rows) for rows, _ in cells))
    result: list[Row] = []
    for y in range(height):
        runs: list[Run] = []
        for column, (rows, alignment) in enumerate(cells):
            if column:
                runs.append((_SEPARATOR, FAINT))
            content = rows[y].runs if y < len(rows) else ()
            runs.extend(_align_runs(content, widths[column], alignment))
        result.append(Row(tuple(runs)))
    return result


def _align_runs(runs: Sequence[Run], width: int, alignment: str) -> list[Run]:
    gap = max(0, width - runs_width(runs))
    match alignment:
        case "right":
            left, right = gap, 0
        case "center":
            left, right = gap // 2, gap - gap // 2
        case _:
            left, right = 0, gap
    return [(" " * left, TEXT), *runs, (" " * right, TEXT)]
