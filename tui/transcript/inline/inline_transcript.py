"""The transcript's widget in the inline mode: as high as its rows that may still change."""

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
    """The widget, as it is sized and painted."""

    viewport: Viewport

    @property
    def size(self) -> Size: ...
    @property
    def styles(self) -> RenderStyles: ...
    @property
    def palette(self) -> Palette: ...
    def update_rows(self) -> None: ...


class InlineTranscript:
    """Hands finished rows over, once they are not painted any more."""

    def __init__(self, widget: InlineWidget) -> None:
        """Nothing is handed over yet."""
        self._widget = widget
        self.scrollback = Scrollback(widget.viewport)
        self._header_rows = 0
        self._max_rows: int | None = None
        """How many rows are wanted at most; None for all there is room for."""
        self._shown_from = HEADER
        """The first row that is painted."""

    @property
    def is_partial(self) -> bool:
        """Whether rows that are finished are not shown by the widget."""
        return not self.scrollback.is_paused

    def show_whole(self, is_wanted: bool) -> None:
        """Show the transcript from its beginning for a while, or what is not finished again."""
        self.scrollback.is_paused = is_wanted
        self._widget.update_rows()

    def set_header(self, rows: Sequence[Row]) -> None:
        """Take the rows that are shown before there are blocks."""
        self._header_rows = len(rows)
        self.scrollback.set_header(rows)

    def record_paint(self, first: RowPosition | None) -> None:
        """Take the position of the first painted row; None for a header's."""
        self._shown_from = first or HEADER

    def fit_height(self, window_rows: int) -> bool:
        """Want as many rows as are needed; whether that is another height."""
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
        """Return the rows to write above those that are painted, each of them once."""
        size = self._widget.size
        if size.width != width_cells:
            return ()
        rows = self.scrollback.take(self._shown_from if size.height else None)
        return self._strips(rows, width_cells)

    def take_rest(self, width_cells: int) -> Sequence[Strip]:
        """Return all rows that were not handed over."""
        return self._strips(self.scrollback.take_rest(), width_cells)

    def _strips(self, rows: Sequence[Row], width_cells: int) -> Sequence[Strip]:
        return [self._widget.palette.strip(line, width_cells) for line in rows]
