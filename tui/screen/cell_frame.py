"""The cells that the terminal shows, those of the next frame, and the codes that update them."""

from __future__ import annotations

import os
from typing import Final

from rich.color import ColorSystem
from textual import log
from textual._compositor import CompositorUpdate
from textual.geometry import Offset, Size

from tui.screen.cell import CellMaker
from tui.screen.cell_diff import compute_diff, shifted_rows
from tui.screen.encode import (
    CURSOR_HIDDEN,
    CURSOR_SHOWN,
    TerminalState,
    emit_escape_codes,
    move_cursor,
)
from tui.screen.paint import paint_update
from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.sixel_layer import SixelLayer
from tui.screen.style import StyleTable

# Terminals that erase with the current background color, by the beginning of TERM. GNU screen
# does not by default; for unknown terminals colored spaces are written instead.
_ERASING_TERMS: Final = (
    "xterm", "tmux", "kitty", "xterm-kitty", "alacritty", "foot", "wezterm", "rxvt", "st-", "linux",
    "konsole", "vte", "gnome", "ghostty", "contour", "iterm",
)  # fmt: skip

_COLOR_SYSTEMS: Final = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


class CellFrame:
    """Two buffers of equal size: frames are painted into `back`; `front` is what is shown."""

    is_alternate = True
    """Whether it is shown on the alternate screen, where rows never move to the scrollback."""

    def __init__(self) -> None:
        """Start with size 0 × 0, until `resize`."""
        self.front = ScreenBuffer(0, 0)
        self.back = ScreenBuffer(0, 0)
        self.maker = CellMaker()
        self.styles = StyleTable(ColorSystem.TRUECOLOR)
        self._terminal = TerminalState(0)
        self._caret_shown: bool | None = None
        self.sixels = SixelLayer()

    @property
    def size(self) -> Size:
        """The size in cells."""
        return Size(self.back.width, self.back.height)

    def forget_terminal(self) -> None:
        """Write every cell with the next frame: something else wrote to the terminal."""
        self.front.invalidate()
        self._terminal.forget()
        self.sixels.forget_terminal()
        self._caret_shown = None

    def use_colors(self, name: str | None) -> bool:
        """Use a color system of Rich; return whether everything must be painted again."""
        color_system = _COLOR_SYSTEMS.get(name or "", ColorSystem.TRUECOLOR)
        if self.styles.color_system is color_system and not self.styles.is_full:
            return False
        if self.styles.is_full:
            log.warning("the style table is full and is cleared")
        self.styles = StyleTable(color_system)
        self.maker = CellMaker()
        self.back.invalidate()
        self.forget_terminal()
        return True

    def resize(self, size: Size) -> bool:
        """Set the size; False if it is unchanged."""
        if not self.back.resize(size.width, size.height):
            return False
        self.front.resize(size.width, size.height)
        self._terminal = TerminalState(
            size.width, fills_background=os.environ.get("TERM", "").startswith(_ERASING_TERMS)
        )
        return True

    def paint(self, update: CompositorUpdate) -> None:
        """Paint an update of Textual's compositor into `back`."""
        paint_update(update, self.back, self.styles, self.maker)

    def encode(self, caret: Offset, *, shows_caret: bool) -> str:
        """Return the escape codes that show the painted frame, and update `front` accordingly."""
        self.sixels.clear_moved(self.front, self.back, self.styles)
        diff = compute_diff(self.front, self.back)
        data = emit_escape_codes(diff, self._terminal, self.styles)
        if diff.shift is not None:
            self.front.rows = shifted_rows(self.front, diff.shift)
        for run in diff.runs:
            self.front.rows[run.y] = self.back.rows[run.y].copy()
        data += self.sixels.draw(diff, self._terminal)
        return data + self._place_caret(caret, shows_caret, self.size)

    def _place_caret(self, caret: Offset, shows_caret: bool, size: Size) -> str:
        """Return the codes that move the cursor to the caret, where input methods open a window."""
        width, height = size
        if not width or not height:
            return ""
        x, y = min(max(caret.x, 0), width - 1), min(max(caret.y, 0), height - 1)
        code = move_cursor(x, y, self._terminal)
        if self._caret_shown is not shows_caret:
            code += CURSOR_SHOWN if shows_caret else CURSOR_HIDDEN
            self._caret_shown = shows_caret
        return code
