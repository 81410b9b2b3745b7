"""A file's change in two columns: old lines on the left, new lines on the right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tui.text.highlight import HighlightedLine
from tui.text.styled_rows import BLANK, FAINT, Ink, Row, Run
from tui.text.wrap import runs_width
from tui.transcript.diff.diff_view import DiffLine, diff_line_rows

SPLIT_CELLS: Final = 160
"""Minimum width of the screen for two columns of code."""
DIVIDER: Final = " │ "


class _Setting:
    is_wanted = True


def set_split(is_wanted: bool) -> bool:
    """Apply the setting `sideBySideDiff`; return whether that is a change."""
    is_changed = _Setting.is_wanted is not is_wanted
    _Setting.is_wanted = is_wanted
    return is_changed


def is_split(width_cells: int) -> bool:
    """Whether changes have two columns at this width."""
    return _Setting.is_wanted and width_cells >= SPLIT_CELLS


class SplitLine(Struct, frozen=True):
    """The old and new line of a row; None if a side has none."""

    old: DiffLine | None
    new: DiffLine | None


def split_lines(hunk: Sequence[DiffLine]) -> Iterator[SplitLine]:
    """Yield the lines of a hunk in pairs; corresponding lines form a pair."""
    removed_lines: list[DiffLine] = []
    added_lines: list[DiffLine] = []
    for line in hunk:
        match line.kind:
            case "removed":
                if added_lines:
                    yield from _align_lines(removed_lines, added_lines)
                    removed_lines, added_lines = [], []
                removed_lines.append(line)
            case "added":
                added_lines.append(line)
            case "same":
                yield from _align_lines(removed_lines, added_lines)
                removed_lines, added_lines = [], []
                yield SplitLine(line, line)
    yield from _align_lines(removed_lines, added_lines)


def _align_lines(
    removed_lines: Sequence[DiffLine], added_lines: Sequence[DiffLine]
) -> Iterator[SplitLine]:
    """Pair corresponding lines, as far as the order of both sides allows it."""
    next_old = next_new = 0
    for index, line in enumerate(removed_lines):
        partner = next(
            (
                position
                for position in range(next_new, len(added_lines))
                if line.other == added_lines[position].text
                and added_lines[position].other == line.text
            ),
            None,
        )
        if partner is not None:
            yield from _side_by_side(removed_lines[next_old:index], added_lines[next_new:partner])
            yield SplitLine(line, added_lines[partner])
            next_old, next_new = index + 1, partner + 1
    yield from _side_by_side(removed_lines[next_old:], added_lines[next_new:])


def _side_by_side(
    removed_lines: Iterable[DiffLine], added_lines: Iterable[DiffLine]
) -> Iterator[SplitLine]:
    return (SplitLine(old, new) for old, new in zip_longest(removed_lines, added_lines))


def split_line_rows(
    line: SplitLine,
    old_lines: Sequence[HighlightedLine],
    new_lines: Sequence[HighlightedLine],
    digits: int,
    width_cells: int,
    indent: int,
    *,
    first_line: int = 1,
) -> Iterator[Row]:
    """Yield the rows of a pair of lines; the arguments are those of `diff_line_rows`."""
    left_cells, right_cells = column_cells(width_cells, indent)
    old, new = line.old, line.new
    if old is not None and old.kind == "same":
        # The left column shows the line number of the old text.
        old = replace(old, new_number=old.old_number)
    lefts, rights = (
        list(
            diff_line_rows(
                side, old_lines if is_old else new_lines, new_lines if not is_old else old_lines,
                digits, cells, 0, first_line=first_line,
            )
        )
        if side is not None
        else []
        for side, cells, is_old in ((old, left_cells, True), (new, right_cells, False))
    )  # fmt: skip
    for left, right in zip_longest(lefts, rights, fillvalue=BLANK):
        # Not as the row's fill, which would apply to both columns.
        yield Row(
            (
                (" " * indent, FAINT),
                *_column(left, left_cells),
                (DIVIDER, FAINT),
                *_column(right, right_cells),
            ),
            indent,
        )


def _column(side: Row, cells: int) -> Iterator[Run]:
    for text, ink in side.runs:
        yield text, ink.with_ground(side.fill)
    yield " " * max(0, cells - runs_width(side.runs)), Ink(ground=side.fill)


def column_cells(width_cells: int, indent: int) -> tuple[int, int]:
    """Return the width of the two columns, in cells."""
    room = width_cells - indent - len(DIVIDER)
    return room // 2, room - room // 2
