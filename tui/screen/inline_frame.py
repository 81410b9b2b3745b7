"""The cells of the inline mode: the frame follows the finished rows in the terminal's scrollback.

The position of the first redrawn row on the screen is unknown, so the cursor only moves relative to
it. Finished rows become the first rows of the next frame: those that are shown already are not
written, and line feeds at the bottom make the terminal scroll them into its scrollback.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from textual._compositor import CompositorUpdate, LayoutUpdate
from textual.geometry import Offset, Size
from textual.strip import Strip

from tui.screen.cell import UNKNOWN, Row, ScreenCell
from tui.screen.cell_diff import Diff, row_runs
from tui.screen.cell_frame import CellFrame
from tui.screen.encode import TerminalState, emit_escape_codes, move_cursor
from tui.screen.paint import paint_strip
from tui.screen.screen_buffer import ScreenBuffer

ALTERNATE_SCREEN: Final = "\x1b[?1049h"
NORMAL_SCREEN: Final = "\x1b[?1049l"
_ERASE_BELOW: Final = "\x1b[J"
_ERASE_ROW: Final = "\x1b[2K"


class InlineContent(Protocol):
    """What the frame needs to know in addition to Textual's updates."""

    def live_rows(self) -> int:
        """Return the number of rows in use, from the top of the frame."""
        ...

    def take_finished(self, width_cells: int) -> Sequence[Strip]:
        """Return finished rows, which no later frame shows, top first; each is returned once."""
        ...

    def take_rest(self, width_cells: int) -> Sequence[Strip]:
        """Return all rows that were not returned yet, finished or not."""
        ...

    def show_whole(self, is_wanted: bool) -> None:
        """Lay out for the whole window, or for the rows in use."""
        ...


class InlineFrame(CellFrame):
    """A frame of variable height on the normal screen; on the alternate screen, a usual frame."""

    def __init__(
        self,
        content: InlineContent,
        *,
        reflows: bool,
        terminal_size: Callable[[], tuple[int, int] | None],
    ) -> None:
        """`reflows`: whether the terminal wraps rows when its window becomes narrower."""
        super().__init__()
        self._content = content
        self._reflows = reflows
        self._terminal_size = terminal_size
        self._visible_rows: list[Row] = []
        """The rows that the terminal shows on the normal screen."""
        self._shown_width = 0
        self._is_resized = False
        self._awaits_layout = False
        """Whether the painted content was laid out for the other screen."""
        self.is_alternate = False
        self._is_finished = False
        self._begin()

    def _begin(self) -> None:
        """Start with no rows shown and the cursor at the position of the first row."""
        self._visible_rows = []
        self._terminal = TerminalState(
            self.back.width, x=0, y=0, rows=1, fills_background=self._terminal.fills_background
        )
        self._caret_shown = None

    def forget_terminal(self) -> None:
        """Write every cell with the next frame."""
        row = self._terminal.y
        super().forget_terminal()
        if not self.is_alternate:
            self._terminal.y = row
            self._visible_rows = [[UNKNOWN] * len(old_row) for old_row in self._visible_rows]

    def resize(self, size: Size) -> bool:
        """Set the size; False if it is unchanged."""
        old_state = self._terminal
        if not super().resize(size):
            return False
        if not self.is_alternate:
            old_state.width, old_state.fills_background = (
                size.width,
                self._terminal.fills_background,
            )
            self._terminal = old_state
            self._is_resized = True
        return True

    def paint(self, update: CompositorUpdate) -> None:
        """Paint an update of Textual's compositor into `back`."""
        super().paint(update)
        if isinstance(update, LayoutUpdate):
            self._awaits_layout = False

    def encode(self, caret: Offset, *, shows_caret: bool) -> str:
        """Return the escape codes that show the painted frame."""
        if self._awaits_layout or self._is_finished or not self.back.width:
            return ""
        if self.is_alternate:
            return super().encode(caret, shows_caret=shows_caret)
        if self._terminal_size() not in (None, (self.back.width, self.back.height)):
            # The window was resized and its rows have moved; the resize will cause a frame.
            return ""
        rows = self.back.rows[: self._content.live_rows()]
        data = self._show(self._content.take_finished(self.back.width), rows)
        size = Size(self.back.width, len(rows))
        return data + self._place_caret(caret, shows_caret, size)

    def leave(self) -> str:
        """Return codes that erase the redrawn rows, so that another program can write there."""
        if self._is_finished:
            return ""
        return self.use_normal() if self.is_alternate else self._erase()

    def finish(self) -> str:
        """Return codes that write all remaining content permanently; no frame follows."""
        data = self.use_normal() if self.is_alternate else ""
        if not self.back.width or self._is_finished:
            return data
        self._is_finished = True
        rest = self._content.take_rest(self.back.width)
        return data + self._show(rest, []) + move_cursor(0, 0, self._terminal) + "\x1b[m"

    def use_alternate(self) -> str:
        """Return codes that enter the alternate screen; from now on it shows whole frames."""
        data = self.leave()
        self.is_alternate = self._awaits_layout = True
        self._terminal.rows = None
        super().forget_terminal()
        return data + ALTERNATE_SCREEN

    def use_normal(self) -> str:
        """Return codes that go back to the row where the alternate screen was entered."""
        self.is_alternate, self._awaits_layout = False, True
        self._begin()
        return NORMAL_SCREEN

    def _show(self, finished_rows: Sequence[Strip], live: Sequence[Row]) -> str:
        """Return codes that show finished rows, which stay above from now on, then live rows."""
        data = self._erase() if self._is_resized else ""
        state, width = self._terminal, self.back.width
        rows = [*self._paint(finished_rows), *live]
        for y, row in enumerate(rows):
            data += self._change_row(y, row)
        if len(rows) < len(self._visible_rows):
            data += self._erase_from(len(rows))
        self._visible_rows = [row.copy() for row in live]
        self._shown_width = width
        assert state.y is not None
        assert state.rows is not None
        state.y -= len(finished_rows)
        state.rows -= len(finished_rows)
        return data

    def _change_row(self, y: int, row: Row) -> str:
        old_row = self._visible_rows[y] if y < len(self._visible_rows) else None
        if old_row == row:
            return ""
        data = ""
        if old_row is None:
            old_row = [UNKNOWN] * len(row)
        elif self._used_cells(old_row) > self._used_cells(row):
            # If only its end is erased, tmux keeps the row's length and wraps it when narrower.
            data = self._with_plain_pen(y) + _ERASE_ROW
            old_row = [UNKNOWN] * len(row)
        runs = tuple(row_runs(y, old_row, row))
        return data + emit_escape_codes(Diff(None, runs), self._terminal, self.styles)

    def _paint(self, strips: Sequence[Strip]) -> list[Row]:
        buffer = ScreenBuffer(self.back.width, len(strips))
        for y, strip in enumerate(strips):
            paint_strip(strip, buffer.width, y, 0, buffer, self.styles, self.maker)
        return buffer.rows

    def _erase_from(self, row: int) -> str:
        """Erase a row and those below it."""
        data = self._with_plain_pen(row) + _ERASE_BELOW
        self._terminal.rows = row + 1
        return data

    def _with_plain_pen(self, row: int) -> str:
        data = move_cursor(0, row, self._terminal)
        data += self.styles.transition(self._terminal.style_id, 0)
        self._terminal.style_id = 0
        return data

    def _erase(self) -> str:
        """Return codes that erase the redrawn rows, also if a new width changed their number."""
        above = self._terminal.y or 0
        width = self.back.width
        if self._reflows and self._is_resized and 0 < width < self._shown_width:
            widths = [self._used_cells(row) for row in self._visible_rows[:above]]
            above = sum(max(1, -(-cells // width)) for cells in widths)
            above += (self._terminal.x or 0) // width
        self._is_resized = False
        self._begin()
        # From the second cell on, then the first: tmux copies a screen that is erased from its
        # first cell to its history.
        return (
            "\r" + (f"\x1b[{above}A" if above else "") + f"\x1b[m\x1b[C{_ERASE_BELOW}\r{_ERASE_ROW}"
        )

    def _used_cells(self, row: Row) -> int:
        """Return a row's length in cells without trailing blanks."""
        count = len(row)
        while count and self._is_blank(row[count - 1]):
            count -= 1
        return count

    def _is_blank(self, cell: ScreenCell) -> bool:
        return (
            cell.grapheme == " "
            and cell.link is None
            and self.styles.is_plain_blank(cell.style_id, fills_background=False)
        )
