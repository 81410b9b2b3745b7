"""The transcript's widget in the inline mode, which is as high as its unfinished rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from textual.css.styles import RenderStyles
from textual.geometry import Size
from textual.strip import Strip

from tui.text.styled_rows import Row
from tui.theme.theme_palette import Palette
from tui.transcript.inline.scrollback import HEADER, Scrollback
from tui.transcript.viewport import RowPosition, Viewport


class InlineWidget(Protocol):
    """The widget's size, viewport and palette."""

    viewport: Viewport

    @property
    def size(self) -> Size: ...
    @property
    def styles(self) -> RenderStyles: ...
    @property
    def palette(self) -> Palette: ...
    def update_rows(self) -> None: ...


class InlineTranscript:
    """Passes finished rows on to the scrollback, once they are no longer painted."""

    def __init__(self, widget: InlineWidget) -> None:
        """Start without rows in the scrollback."""
        self._widget = widget
        self.scrollback = Scrollback(widget.viewport)
        self._header_rows = 0
        self._max_rows: int | None = None
        """Maximum height; None for the available height."""
        self._shown_from = HEADER
        """Position of the first painted row."""

    @property
    def is_partial(self) -> bool:
        """Whether the widget shows only unfinished rows."""
        return not self.scrollback.is_paused

    def show_whole(self, is_wanted: bool) -> None:
        """Show the whole transcript, or only its unfinished rows."""
        self.scrollback.is_paused = is_wanted
        self._widget.update_rows()

    def set_header(self, rows: Sequence[Row]) -> None:
        """Set the rows that are shown before the first block."""
        self._header_rows = len(rows)
        self.scrollback.set_header(rows)

    def record_paint(self, first: RowPosition | None) -> None:
        """Store the position of the first painted row; None for the header."""
        self._shown_from = first or HEADER

    def fit_height(self, window_rows: int) -> bool:
        """Set the maximum height to the needed rows; return whether that is a change."""
        max_rows: int | None = None
        if self.is_partial:
            has_blocks = bool(self._widget.viewport.entries)
            max_rows = self.scrollback.live_rows(window_rows) if has_blocks else self._header_rows
        if self._max_rows == max_rows:
            return False
        self._max_rows = max_rows
        self._widget.styles.max_height = max_rows
        return True

    def take_finished(self, width_cells: int) -> Sequence[Strip]:
        """Return the rows to write above the painted ones; each is returned once."""
        size = self._widget.size
        if size.width != width_cells:
            return ()
        rows = self.scrollback.take(self._shown_from if size.height else None)
        return self._strips(rows, width_cells)

    def take_rest(self, width_cells: int) -> Sequence[Strip]:
        """Return all rows that are not in the scrollback."""
        return self._strips(self.scrollback.take_rest(), width_cells)

    def _strips(self, rows: Sequence[Row], width_cells: int) -> Sequence[Strip]:
        return [self._widget.palette.strip(line, width_cells) for line in rows]
