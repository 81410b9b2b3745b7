"""Encodes a diff as escape codes, with the shortest cursor moves and style changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from tui.screen.cell import ScreenCell
from tui.screen.cell_diff import Diff, Run, Shift
from tui.screen.style import StyleTable
from tui.screen.width import is_one_cluster

SYNC_START: Final = "\x1b[?2026h"
SYNC_END: Final = "\x1b[?2026l"
CURSOR_SHOWN: Final = "\x1b[?25h"
CURSOR_HIDDEN: Final = "\x1b[?25l"

_ERASE_CELLS: Final = 5
"""Minimum number of spaces at the end of a row that are erased instead of written."""
_ERASE_INSIDE_CELLS: Final = 12
"""Minimum number of spaces within a row that are erased and skipped instead of written."""


class TerminalState(Struct):
    """The state of the terminal's cursor and pen; None for unknown values."""

    width: int
    """Columns."""
    x: int | None = None
    y: int | None = None
    style_id: int | None = None
    link: str | None = None
    """The open hyperlink; always closed at the end of a frame."""
    fills_background: bool = False
    """Whether erasing fills with the current background color (BCE)."""
    rows: int | None = None
    """Number of existing rows, if they are counted from a row whose position on the screen is
    unknown; line feeds add rows, and `y` is always known. None: rows count from the top."""

    def forget(self) -> None:
        """Forget the state of cursor and pen."""
        self.x = self.y = self.style_id = self.link = None


def emit_escape_codes(diff: Diff, state: TerminalState, styles: StyleTable) -> str:
    """Return the codes that apply the diff, and update the state."""
    codes: list[str] = []
    if diff.shift is not None:
        _emit_shift(diff.shift, state, styles, codes)
    for run in diff.runs:
        _emit_run(run, state, styles, codes)
    if diff and state.link is not None:
        # With a link left open, other programs' output would become part of it.
        _set_link(None, state, codes)
    return "".join(codes)


def move_cursor(x: int, y: int, state: TerminalState) -> str:
    """Return the shortest code that moves the cursor ("" if it is there already); update the state.

    Rows and columns count from 0.
    """
    if (state.x, state.y) == (x, y):
        return ""
    if state.rows is not None:
        code = _to_row(y, state)
        return code if state.x == x else code + min(_along_row(x, state), key=len)
    row, column = y + 1, x + 1
    position = f"{row if row > 1 else ''}{f';{column}' if column > 1 else ''}"
    ways = [f"\x1b[{position}H"]
    if state.y == y:
        ways += _along_row(x, state)
    elif state.y is not None:
        distance = y - state.y
        if state.x == x:
            ways.append(_vertical(distance))
        if x == 0:
            ways.append("\r\n" if distance == 1 else "\r" + _vertical(distance))
    state.x, state.y = x, y
    return min(ways, key=len)


def _along_row(x: int, state: TerminalState) -> list[str]:
    """Return alternative codes that move the cursor within its row; updates the column."""
    ways = ["\x1b[G" if x == 0 else f"\x1b[{x + 1}G"]
    if x == 0:
        ways.append("\r")
    if state.x is not None:
        distance = x - state.x
        if distance > 0:
            ways.append("\x1b[C" if distance == 1 else f"\x1b[{distance}C")
        else:
            ways.append("\x1b[D" if distance == -1 else f"\x1b[{-distance}D")
            if distance >= -4:
                ways.append("\b" * -distance)
    state.x = x
    return ways


def _to_row(y: int, state: TerminalState) -> str:
    """Return the code that moves the cursor to a row, which is added if it does not exist."""
    assert state.rows is not None
    assert state.y is not None
    last = state.rows - 1
    distance = min(y, last) - state.y
    code = _vertical(distance) if distance else ""
    if y > last:
        # A line feed scrolls at the bottom of the screen, and moves down elsewhere.
        code += "\r" + "\n" * (y - last)
        state.x, state.rows = 0, y + 1
    state.y = y
    return code


def _vertical(distance: int) -> str:
    final = "B" if distance > 0 else "A"
    count = abs(distance)
    return f"\x1b[{final}" if count == 1 else f"\x1b[{count}{final}"


def _emit_shift(shift: Shift, state: TerminalState, styles: StyleTable, codes: list[str]) -> None:
    # More terminals support insert and delete line within margins than scroll up and down. Some
    # fill the cleared rows with the pen's background; the rows are written anyway, but the default
    # pen prevents a flash of color.
    if state.style_id is None:
        codes.append(styles.transition(None, 0))
        state.style_id = 0
    codes.append(f"\x1b[{shift.top + 1};{shift.bottom + 1}r")
    # Setting margins moves the cursor home, except in some emulators.
    state.x = state.y = None
    codes.append(move_cursor(0, shift.top, state))
    count = abs(shift.lines)
    final = "M" if shift.lines > 0 else "L"
    codes.append(f"\x1b[{count if count > 1 else ''}{final}\x1b[r")
    state.x = state.y = None


def _emit_run(run: Run, state: TerminalState, styles: StyleTable, codes: list[str]) -> None:
    cells = run.cells
    total = len(cells)
    tail = _blank_tail(cells) if run.reaches_end else total
    erases_tail = False
    if tail < total:
        last = cells[-1]
        blanks = state.width - run.x - tail
        erases_tail = (
            blanks >= _ERASE_CELLS
            and last.link is None
            and styles.is_plain_blank(last.style_id, fills_background=state.fills_background)
        )
    if not erases_tail:
        tail = total
    codes.append(move_cursor(run.x, run.y, state))
    position = 0
    while position < tail:
        position = _emit_stretch(run, position, tail, state, styles, codes)
    if erases_tail:
        if state.x != run.x + tail:
            codes.append(move_cursor(run.x + tail, run.y, state))
        _set_pen(cells[-1], state, styles, codes)
        codes.append("\x1b[K")


def _blank_tail(cells: Sequence[ScreenCell]) -> int:
    """Return the index of the first of the equal cells at the end."""
    last = cells[-1]
    start = len(cells)
    while start > 0 and (cells[start - 1] is last or cells[start - 1] == last):
        start -= 1
    return start


def _emit_stretch(
    run: Run, start: int, end: int, state: TerminalState, styles: StyleTable, codes: list[str]
) -> int:
    """Append codes for the cells of one style from `start` on; return the next stretch's start."""
    cells = run.cells
    first = cells[start]
    if start and _joins(cells, start):
        state.x = None
    if state.x != run.x + start:
        codes.append(move_cursor(run.x + start, run.y, state))
    _set_pen(first, state, styles, codes)
    erases = first.link is None and styles.is_plain_blank(
        first.style_id, fills_background=state.fills_background
    )
    style_id, link = first.style_id, first.link
    text: list[str] = []
    position = start
    # The hottest loop of a large frame: cells are unpacked once, calls are avoided.
    while position < end:
        grapheme, width, cell_style_id, cell_link = cells[position]
        if width == 0:
            position += 1
            continue
        if cell_style_id != style_id or cell_link != link:
            break
        if grapheme.isascii():
            if grapheme == " " and erases and _blanks_begin(cells, position, end):
                if text:
                    break
                # Erasing does not move the cursor; the next stretch does.
                blanks = _blanks(cells, position, end)
                codes.append(f"\x1b[{blanks}X")
                return position + blanks
        elif text and _joins(cells, position):
            break
        if len(grapheme) > 1 and width > 1:
            # A terminal that draws it narrower would keep the old content of the second cell.
            text.append(f"\x1b[{width}X")
        text.append(grapheme)
        position += 1
        if len(grapheme) > 1:
            # Terminals differ in how far a cluster moves the cursor.
            codes.append("".join(text))
            state.x = None
            return position if width == 1 else min(position + 1, end)
    codes.append("".join(text))
    # After the last column the position depends on whether the terminal wraps lines.
    state.x = run.x + position if run.x + position < state.width else None
    return position


def _blanks_begin(cells: Sequence[ScreenCell], position: int, end: int) -> bool:
    """Return whether enough equal cells to be erased begin at `position`."""
    last = position + _ERASE_INSIDE_CELLS - 1
    blank = cells[position]
    return last < end and cells[last] == blank and _blanks(cells, position, last) == last - position


def _joins(cells: Sequence[ScreenCell], position: int) -> bool:
    """Return whether a cell written right after its left neighbor would form a cluster with it.

    Two halves of a flag do; a cursor move keeps them separate.
    """
    grapheme = cells[position].grapheme
    if grapheme.isascii():
        return False
    left = cells[position - 1]
    if left.width == 0 and position > 1:
        left = cells[position - 2]
    return not left.grapheme.isascii() and is_one_cluster(left.grapheme + grapheme)


def _blanks(cells: Sequence[ScreenCell], start: int, end: int) -> int:
    """Return the number of equal cells from `start` on, at least 1."""
    blank = cells[start]
    position = start + 1
    while position < end and (cells[position] is blank or cells[position] == blank):
        position += 1
    return position - start


def _set_pen(cell: ScreenCell, state: TerminalState, styles: StyleTable, codes: list[str]) -> None:
    if state.style_id != cell.style_id:
        codes.append(styles.transition(state.style_id, cell.style_id))
        state.style_id = cell.style_id
    link = cell.link if cell.link is not None and cell.link.isprintable() else None
    if link != state.link:
        _set_link(link, state, codes)


def _set_link(link: str | None, state: TerminalState, codes: list[str]) -> None:
    if link is not None:
        # Terminals join the parts of a link that have equal ids, such as wrapped ones.
        codes.append(f"\x1b]8;id={_link_id(link)};{link}\x1b\\")
    elif state.link is not None:
        codes.append("\x1b]8;;\x1b\\")
    state.link = link


def _link_id(link: str) -> str:
    number = 0
    for character in link:
        number = (number * 31 + ord(character)) & 0xFFFFFFFF
    return f"{number:x}"
