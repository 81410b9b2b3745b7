"""Caches the strips of rows, by the identity of the row objects."""

from __future__ import annotations

from textual.strip import Strip

from tui.text.styled_rows import Row
from tui.theme.theme_palette import Palette


class StripCache:
    """A cache for one width and one palette; a change of either clears it."""

    def __init__(self) -> None:
        """Start empty."""
        self._strips: dict[int, tuple[Row, Strip]] = {}
        self._palette: Palette | None = None
        self._width = -1

    def strip(self, line: Row, width_cells: int, palette: Palette, *, limit: int) -> Strip:
        """Return the strip of a row; about `limit` of them are cached."""
        if palette is not self._palette or width_cells != self._width:
            self._palette, self._width = palette, width_cells
            self._strips.clear()
        # The row is stored with its strip, so that its identity stays unique.
        entry = self._strips.get(id(line))
        if entry is not None:
            return entry[1]
        if len(self._strips) >= limit:
            self._strips.clear()
        strip = palette.strip(line, width_cells)
        self._strips[id(line)] = (line, strip)
        return strip
