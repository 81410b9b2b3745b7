"""A widget that shows rows, which subclasses make; only changed rows are painted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

from textual.geometry import Size
from textual.strip import Strip

from tui.screen.direct_rows import DrawsRows
from tui.text.styled_rows import BLANK, Row
from tui.theme.theme_palette import Palette
from tui.widgets.strip_cache import StripCache


class PaletteHost(Protocol):
    """An app with a palette; replacing the palette must refresh every widget."""

    @property
    def palette(self) -> Palette:
        """The palette of the current theme."""
        ...


class RowsWidget(DrawsRows):
    """Is as high as its rows. Call `rows_changed` when `make_rows` would return other rows."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    RowsWidget { width: 1fr; height: auto; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        """Start without rows, which are made once the width is known."""
        super().__init__(id=id, classes=classes)
        self._rows: Sequence[Row] = ()
        self._rows_width = -1
        self._strips = StripCache()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the rows for a width, none of them wider; nothing by default."""
        return ()

    @property
    def palette(self) -> Palette:
        """The app's palette."""
        return cast("PaletteHost", self.app).palette

    def rows_changed(self) -> None:
        """Make the rows again, and repaint those that differ."""
        if self._rows_width < 0 or not self.is_mounted:
            return
        old = self._rows
        self._rows = self.make_rows(self._rows_width)
        if len(old) != len(self._rows):
            self.refresh(layout=True)
            return
        self.repaint_rows(
            [
                y
                for y, (old_row, new_row) in enumerate(zip(old, self._rows, strict=True))
                if old_row is not new_row and old_row != new_row
            ]
        )

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the whole width of the container."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the number of rows at that width."""
        return len(self._rows_for(width))

    def render_line(self, y: int) -> Strip:
        """Paint one row."""
        width = self.size.width
        rows = self._rows_for(width)
        line = rows[y] if y < len(rows) else BLANK
        return self._strips.strip(line, width, self.palette, limit=4 * len(rows) + 16)

    def _rows_for(self, width: int) -> Sequence[Row]:
        if width != self._rows_width:
            self._rows_width = width
            self._rows = self.make_rows(width)
        return self._rows
