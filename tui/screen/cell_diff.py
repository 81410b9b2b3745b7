"""What must be written so that the terminal shows the new frame: pure, no codes yet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from tui.screen.cell import CONTINUATION, UNKNOWN, Row, ScreenCell
from tui.screen.screen_buffer import ScreenBuffer

GAP_CELLS: Final = 4
"""Unchanged cells up to this many are written again rather than moved over."""

SHIFT_ROWS: Final = 4
"""Fewest rows that a shift must save."""
SHIFT_SHARE: Final = 0.4
"""Smallest share of the changed rows that a shift must save."""
_IGNORED_COLUMNS: Final = 3
"""Columns at the right edge that do not count when rows are matched: a scrollbar moves otherwise
than the text beside it."""


class Shift(Struct, frozen=True):
    """Rows that move together, as by the terminal's own scrolling; full width."""

    top: int
    """First row of the region."""
    bottom: int
    """Last row of the region, included."""
    lines: int
    """Rows by which the content moves up; negative: down. Never 0."""


class Run(Struct, frozen=True):
    """Neighbouring cells of one row to write."""

    y: int
    x: int
    cells: Sequence[ScreenCell]
    reaches_end: bool
    """Whether all cells right of the run are the same space as its last one."""


class Diff(Struct, frozen=True):
    """First the shift, then the runs, top to bottom and left to right."""

    shift: Shift | None
    runs: tuple[Run, ...]

    def __bool__(self) -> bool:
        """Whether there is anything to write."""
        return bool(self.runs) or self.shift is not None


def compute_diff(previous: ScreenBuffer, current: ScreenBuffer) -> Diff:
    """Return what turns the screen that shows `previous` into `current`.

    Both have the same size and are left alone. UNKNOWN cells of `current` are not written.
    """
    changed = [
        y
        for y, (before, after) in enumerate(zip(previous.rows, current.rows, strict=True))
        if before != after
    ]
    if not changed:
        return Diff(None, ())
    shift = find_shift(previous, current, changed)
    if shift is None:
        runs = [run for y in changed for run in row_runs(y, previous.rows[y], current.rows[y])]
        return Diff(None, tuple(runs))
    rows = shifted_rows(previous, shift)
    return Diff(
        shift,
        tuple(
            run
            for y, (before, after) in enumerate(zip(rows, current.rows, strict=True))
            if before != after
            for run in row_runs(y, before, after)
        ),
    )


def shifted_rows(buffer: ScreenBuffer, shift: Shift) -> list[Row]:
    """Return the rows after the shift; those that the terminal blanks are UNKNOWN.

    What colour they get depends on the terminal, so they are always written.
    """
    fresh: list[Row] = [[UNKNOWN] * buffer.width for _ in range(abs(shift.lines))]
    region = buffer.rows[shift.top : shift.bottom + 1]
    if shift.lines > 0:
        moved = [*region[shift.lines :], *fresh]
    else:
        moved = [*fresh, *region[: shift.lines]]
    return [*buffer.rows[: shift.top], *moved, *buffer.rows[shift.bottom + 1 :]]


def row_runs(y: int, before: Row, after: Row) -> Iterator[Run]:
    """Return the runs of one row, left to right, small gaps merged."""
    if before.count(UNKNOWN) == len(before) and UNKNOWN not in after:
        # After a change of size: everything is written, there is nothing to compare.
        if after:
            yield _run(y, 0, len(after), after)
        return
    changed = [
        x
        for x, (old, new) in enumerate(zip(before, after, strict=True))
        if old is not new and old != new and new is not UNKNOWN
    ]
    start = end = -1
    for x in changed:
        if x < end:
            continue
        new = after[x]
        if new is CONTINUATION:
            x -= 1
            new = after[x]
        if x > end >= 0 and not _is_small_gap(after, end, x):
            yield _run(y, start, end, after)
            start = x
        elif start < 0:
            start = x
        end = x + 2 if new.width == 2 else x + 1
    if start >= 0:
        yield _run(y, start, end, after)


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
    previous: ScreenBuffer, current: ScreenBuffer, changed: Sequence[int]
) -> Shift | None:
    """Return the shift that saves enough rows; None when writing is cheaper or nothing moved."""
    if len(changed) < SHIFT_ROWS or current.width <= _IGNORED_COLUMNS:
        return None
    before_keys = [_row_key(row) for row in previous.rows]
    places: dict[int, list[int]] = {}
    for y, key in enumerate(before_keys):
        if key is not None:
            places.setdefault(key, []).append(y)
    after_keys = {y: _row_key(current.rows[y]) for y in changed}
    votes: Counter[int] = Counter()
    for y, key in after_keys.items():
        if key is not None:
            votes.update(before_y - y for before_y in places.get(key, ()) if before_y != y)
    needed = max(SHIFT_ROWS, SHIFT_SHARE * len(changed))
    for lines, count in votes.most_common(3):
        if count < needed:
            break
        shift = _region(lines, after_keys, before_keys)
        if shift is not None and _rows_saved(shift, previous, current) >= needed:
            return shift
    return None


def _region(
    lines: int, after_keys: dict[int, int | None], before_keys: Sequence[int | None]
) -> Shift | None:
    matching = [
        y
        for y, key in after_keys.items()
        if key is not None and 0 <= y + lines < len(before_keys) and before_keys[y + lines] == key
    ]
    if not matching:
        return None
    first, last = min(matching), max(matching)
    return Shift(min(first, first + lines), max(last, last + lines), lines)


def _rows_saved(shift: Shift, previous: ScreenBuffer, current: ScreenBuffer) -> int:
    """Return how many rows more are right after the shift than before it."""
    moved = shifted_rows(previous, shift)
    saved = 0
    for y in range(shift.top, shift.bottom + 1):
        wanted = current.rows[y][:-_IGNORED_COLUMNS]
        saved += moved[y][:-_IGNORED_COLUMNS] == wanted
        saved -= previous.rows[y][:-_IGNORED_COLUMNS] == wanted
    return saved


def _row_key(row: Row) -> int | None:
    """Return a hash of the row's content; None for rows without information (one cell repeated)."""
    content = row[:-_IGNORED_COLUMNS]
    if content.count(content[0]) == len(content):
        return None
    # Cells are shared, so identity implies content; an unshared equal cell only costs a match.
    return hash(tuple(map(id, content)))
