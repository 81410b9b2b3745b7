"""Computes which cells must be written to show a new frame; pure, without escape codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from tui.screen.cell import CONTINUATION, UNKNOWN, Row, ScreenCell
from tui.screen.screen_buffer import ScreenBuffer

GAP_CELLS: Final = 4
"""Up to this many unchanged cells are written again instead of moving the cursor over them."""

SHIFT_ROWS: Final = 4
"""Minimum number of rows that a shift must save."""
SHIFT_SHARE: Final = 0.4
"""Minimum fraction of the changed rows that a shift must save."""
_IGNORED_COLUMNS: Final = 3
"""Columns at the right edge that are ignored when rows are matched: a scrollbar does not move with
the text beside it."""


class Shift(Struct, frozen=True):
    """Rows that the terminal itself can scroll, over the full width."""

    top: int
    """First row of the region."""
    bottom: int
    """Last row of the region, included."""
    lines: int
    """Rows by which the content moves up; negative: down. Never 0."""


class Run(Struct, frozen=True):
    """Adjacent cells of one row that are to be written."""

    y: int
    x: int
    cells: Sequence[ScreenCell]
    reaches_end: bool
    """Whether the last cell is a space and all cells to its right are equal to it."""


class Diff(Struct, frozen=True):
    """The shift is applied first, then the runs, top to bottom and left to right."""

    shift: Shift | None
    runs: tuple[Run, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.runs) or self.shift is not None


def compute_diff(previous: ScreenBuffer, current: ScreenBuffer) -> Diff:
    """Return the changes that turn `previous` into `current`.

    Both have the same size and are not modified. UNKNOWN cells of `current` are not written.
    """
    changed_rows = [
        y
        for y, (old, new) in enumerate(zip(previous.rows, current.rows, strict=True))
        if old != new
    ]
    if not changed_rows:
        return Diff(None, ())
    shift = find_shift(previous, current, changed_rows)
    if shift is None:
        runs = [run for y in changed_rows for run in row_runs(y, previous.rows[y], current.rows[y])]
        return Diff(None, tuple(runs))
    rows = shifted_rows(previous, shift)
    return Diff(
        shift,
        tuple(
            run
            for y, (old, new) in enumerate(zip(rows, current.rows, strict=True))
            if old != new
            for run in row_runs(y, old, new)
        ),
    )


def shifted_rows(buffer: ScreenBuffer, shift: Shift) -> list[Row]:
    """Return the rows after the shift; those that the terminal clears are UNKNOWN.

    Their color depends on the terminal, so they are always written.
    """
    fresh: list[Row] = [[UNKNOWN] * buffer.width for _ in range(abs(shift.lines))]
    region = buffer.rows[shift.top : shift.bottom + 1]
    if shift.lines > 0:
        new_region = [*region[shift.lines :], *fresh]
    else:
        new_region = [*fresh, *region[: shift.lines]]
    return [*buffer.rows[: shift.top], *new_region, *buffer.rows[shift.bottom + 1 :]]


def row_runs(y: int, old_row: Row, new_row: Row) -> Iterator[Run]:
    """Return the runs of one row, left to right; runs with a small gap between them are merged."""
    if old_row.count(UNKNOWN) == len(old_row) and UNKNOWN not in new_row:
        # After a resize all cells are unknown, so the whole row is written.
        if new_row:
            yield _run(y, 0, len(new_row), new_row)
        return
    columns = [
        x
        for x, (old, new) in enumerate(zip(old_row, new_row, strict=True))
        if old is not new and old != new and new is not UNKNOWN
    ]
    start = end = -1
    for x in columns:
        if x < end:
            continue
        new = new_row[x]
        if new is CONTINUATION:
            x -= 1
            new = new_row[x]
        if x > end >= 0 and not _is_small_gap(new_row, end, x):
            yield _run(y, start, end, new_row)
            start = x
        elif start < 0:
            start = x
        end = x + 2 if new.width == 2 else x + 1
    if start >= 0:
        yield _run(y, start, end, new_row)


def _run(y: int, start: int, end: int, row: Row) -> Run:
    last = row[end - 1]
    reaches_end = last.grapheme == " " and row[end:].count(last) == len(row) - end
    return Run(y, start, row[start:end], reaches_end)


def _is_small_gap(row: Row, start: int, end: int) -> bool:
    """Whether writing the unchanged cells between two runs is cheaper than a cursor move."""
    if end - start > GAP_CELLS:
        return False
    left, right = row[start - 1], row[end]
    gap = row[start:end]
    if not all(cell.width == 1 and cell.grapheme.isascii() for cell in gap):
        return False
    return _same_pen(gap, left) or _same_pen(gap, right)


def _same_pen(cells: Row, other: ScreenCell) -> bool:
    return all(cell.style_id == other.style_id and cell.link == other.link for cell in cells)


def find_shift(
    previous: ScreenBuffer, current: ScreenBuffer, changed_rows: Sequence[int]
) -> Shift | None:
    """Return a shift that saves enough rows; None if writing the rows is cheaper."""
    if len(changed_rows) < SHIFT_ROWS or current.width <= _IGNORED_COLUMNS:
        return None
    # Rows that look the same before and after seldom moved, so their keys are not computed.
    before_keys = {y: _row_key(previous.rows[y]) for y in changed_rows}
    places: dict[int, list[int]] = {}
    for y, key in before_keys.items():
        if key is not None:
            places.setdefault(key, []).append(y)
    if not places:
        # No row has content that could have moved, as after a resize.
        return None
    after_keys = {y: _row_key(current.rows[y]) for y in changed_rows}
    votes: Counter[int] = Counter()
    for y, key in after_keys.items():
        if key is not None:
            votes.update(before_y - y for before_y in places.get(key, ()) if before_y != y)
    threshold = max(SHIFT_ROWS, SHIFT_SHARE * len(changed_rows))
    for lines, count in votes.most_common(3):
        if count < threshold:
            break
        shift = _region(lines, after_keys, before_keys)
        if shift is not None and _rows_saved(shift, previous, current) >= threshold:
            return shift
    return None


def _region(
    lines: int, after_keys: dict[int, int | None], before_keys: dict[int, int | None]
) -> Shift | None:
    matching = [
        y for y, key in after_keys.items() if key is not None and before_keys.get(y + lines) == key
    ]
    if not matching:
        return None
    first, last = min(matching), max(matching)
    return Shift(min(first, first + lines), max(last, last + lines), lines)


def _rows_saved(shift: Shift, previous: ScreenBuffer, current: ScreenBuffer) -> int:
    """Return how many more rows are correct after the shift than before it."""
    new_rows = shifted_rows(previous, shift)
    saving = 0
    for y in range(shift.top, shift.bottom + 1):
        target = current.rows[y][:-_IGNORED_COLUMNS]
        saving += new_rows[y][:-_IGNORED_COLUMNS] == target
        saving -= previous.rows[y][:-_IGNORED_COLUMNS] == target
    return saving


def _row_key(row: Row) -> int | None:
    """Return a hash of the row's content; None if it is one cell repeated, as in a blank row."""
    # Equal cells are usually the same object; one that is not only prevents a match.
    content = tuple(map(id, row[:-_IGNORED_COLUMNS]))
    return None if content.count(content[0]) == len(content) else hash(content)
