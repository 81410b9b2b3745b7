"""The rows of an image: cells that the terminal or the frame fills with it. Pure.

For kitty each cell contains a placeholder with its row and column; its color is the image's number.
For sixel the cells are spaces in that color, over which the frame draws.
"""

from __future__ import annotations

from typing import Final

from tui.images.image_support import ImageKind
from tui.text.styled_rows import Ink, Row

PLACEHOLDER: Final = "\U0010eeee"
# The first of kitty's diacritics for rows and columns (combining class 230, no decomposition).
_MARKS: Final = (
    "\u0305\u030d\u030e\u0310\u0312\u033d\u033e\u033f\u0346\u034a\u034b\u034c\u0350\u0351\u0352\u0357"
    "\u035b\u0363\u0364\u0365\u0366\u0367\u0368\u0369\u036a\u036b\u036c\u036d\u036e\u036f\u0483\u0484"
    "\u0485\u0486\u0487\u0592\u0593\u0594\u0595\u0597\u0598\u0599\u059c\u059d\u059e\u059f\u05a0\u05a1"
)
MAX_COLUMNS: Final = len(_MARKS)
MAX_ROWS: Final = 14
_USUAL_CELL: Final = (8, 16)
"""Size of a cell in pixels, if the terminal does not report it."""


def image_rows(number: int, columns: int, rows: int, kind: ImageKind) -> list[Row]:
    """Return the rows of an image, which are not copied with a selection."""
    ink = Ink(image=number)
    if kind == "sixel":
        return [Row(((" " * columns, ink),), is_copied=False) for _ in range(rows)]
    return [
        Row(
            (("".join(PLACEHOLDER + _MARKS[y] + mark for mark in _MARKS[:columns]), ink),),
            is_copied=False,
        )
        for y in range(rows)
    ]


def cells_of(size: tuple[int, int], cell: tuple[int, int], width_cells: int) -> tuple[int, int]:
    """Return columns and rows for an image of `size` pixels, which is never enlarged.

    `cell` is the size of a cell in pixels, (0, 0) if unknown.
    """
    cell_width, cell_height = cell if all(cell) else _USUAL_CELL
    width, height = max(1, size[0]), max(1, size[1])
    max_columns = max(1, min(width_cells, MAX_COLUMNS))
    scale = min(1.0, max_columns * cell_width / width, MAX_ROWS * cell_height / height)
    columns = round(width * scale / cell_width)
    rows = round(height * scale / cell_height)
    return min(max(1, columns), max_columns), min(max(1, rows), MAX_ROWS)
