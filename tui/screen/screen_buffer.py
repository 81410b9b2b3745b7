"""A buffer with the cells of the whole screen."""

from __future__ import annotations

from tui.screen.cell import CONTINUATION, UNKNOWN, CellMaker, Row, ScreenCell


class ScreenBuffer:
    """Rows of cells, all of the same width.

    Always valid: the left half of a wide cluster is followed by its continuation, and a
    continuation always follows a left half.
    """

    __slots__ = ("height", "rows", "width")

    def __init__(self, width: int, height: int) -> None:
        """Start with UNKNOWN cells. Units: columns and rows, at least 0."""
        self.width = width
        self.height = height
        self.rows: list[Row] = [[UNKNOWN] * width for _ in range(height)]

    def invalidate(self) -> None:
        """Set all cells to UNKNOWN."""
        self.rows = [[UNKNOWN] * self.width for _ in range(self.height)]

    def resize(self, width: int, height: int) -> bool:
        """Set the size and invalidate all cells; False, and nothing changes, if it is the same."""
        if (width, height) == (self.width, self.height):
            return False
        self.width = width
        self.height = height
        self.invalidate()
        return True

    def put(self, y: int, x: int, cells: Row, maker: CellMaker) -> None:
        """Write valid cells at a position inside the screen, clipped at the right edge.

        Wide clusters that are cut in half, new or old, become spaces in their style.
        """
        row = self.rows[y]
        room = self.width - x
        if room <= 0 or not cells:
            return
        if len(cells) > room:
            cells = cells[:room]
        if cells[-1].width == 2:
            cells = [*cells[:-1], _blank_half(cells[-1], maker)]
        end = x + len(cells)
        if x > 0 and row[x] is CONTINUATION:
            row[x - 1] = _blank_half(row[x - 1], maker)
        if end < self.width and row[end] is CONTINUATION:
            row[end] = _blank_half(row[end - 1], maker)
        row[x:end] = cells


def _blank_half(head: ScreenCell, maker: CellMaker) -> ScreenCell:
    return maker.blank(head.style_id, head.link) if head.style_id >= 0 else UNKNOWN
