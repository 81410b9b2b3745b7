"""Cells of the screen, and the factory that shares equal ones."""

from __future__ import annotations

from typing import Final, NamedTuple

from tui.screen.width import clusters, is_plain


class ScreenCell(NamedTuple):
    """The content of one column of one row; compared by value, shared where possible."""

    grapheme: str
    """One grapheme cluster; "" in the right half of a wide one."""
    width: int
    """Cells: 1 or 2; 0 for the right half of a wide cluster."""
    style_id: int
    """Index into the `StyleTable`."""
    link: str | None = None
    """Target of a hyperlink."""


Row = list[ScreenCell]

CONTINUATION: Final = ScreenCell("", 0, 0)
"""The right half of a wide cluster, right after its left half."""

UNKNOWN: Final = ScreenCell("", -1, -1)
"""In the buffer of shown cells: unknown, so write it. In the next frame: leave as is."""

_CELL_LIMIT: Final = 100_000


class CellMaker:
    """Converts styled text to cells; equal cells are the same object, so that rows compare fast."""

    def __init__(self) -> None:
        self._glyphs: dict[tuple[int, str | None], _Glyphs] = {}

    def cells(self, text: str, style_id: int, link: str | None = None) -> Row:
        """Return the cells of the text, two for a wide cluster; control characters are omitted."""
        glyphs = self._glyphs.get((style_id, link))
        if glyphs is None:
            glyphs = self._new_glyphs(style_id, link)
        if is_plain(text):
            return list(map(glyphs.__getitem__, text))
        row: Row = []
        for grapheme, width in clusters(text):
            if width == 1:
                row.append(glyphs[grapheme])
            else:
                row.append(glyphs.wide(grapheme))
                row.append(CONTINUATION)
        return row

    def blank(self, style_id: int, link: str | None = None) -> ScreenCell:
        """Return a space of this style."""
        return self.cells(" ", style_id, link)[0]

    def _new_glyphs(self, style_id: int, link: str | None) -> _Glyphs:
        # Only sharing is lost: equal cells from before and after this still compare equal.
        if sum(map(len, self._glyphs.values())) > _CELL_LIMIT:
            self._glyphs.clear()
        glyphs = self._glyphs[style_id, link] = _Glyphs(style_id, link)
        return glyphs


class _Glyphs(dict[str, ScreenCell]):
    """The cells of one style, by grapheme."""

    __slots__ = ("link", "style_id")

    def __init__(self, style_id: int, link: str | None) -> None:
        super().__init__()
        self.style_id = style_id
        self.link = link

    def __missing__(self, grapheme: str) -> ScreenCell:
        if len(self) > _CELL_LIMIT:
            self.clear()
        cell = self[grapheme] = ScreenCell(grapheme, 1, self.style_id, self.link)
        return cell

    def wide(self, grapheme: str) -> ScreenCell:
        """Return the left half of a wide cluster."""
        cell = self.get(grapheme)
        if cell is None or cell.width != 2:
            cell = self[grapheme] = ScreenCell(grapheme, 2, self.style_id, self.link)
        return cell
