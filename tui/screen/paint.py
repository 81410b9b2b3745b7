"""Paints Textual's updates into a screen buffer, where Textual would write them."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

from tui.screen.cell import CellMaker, Row
from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.style import StyleTable


def paint_update(
    update: CompositorUpdate, buffer: ScreenBuffer, styles: StyleTable, maker: CellMaker
) -> None:
    """Paint a full or partial update; parts outside the buffer are ignored.

    Raises:
        TypeError: another kind of update, such as those of Textual's inline mode.
    """
    match update:
        case LayoutUpdate(strips=lines, region=region):
            for y, line in enumerate(lines, region.y):
                x = region.x
                for strip in line:
                    width = strip.cell_length
                    paint_strip(strip, width, y, x, buffer, styles, maker)
                    x += width
        case ChopsUpdate(chops=chops, spans=spans, chop_ends=chop_ends):
            for y, x1, x2 in spans:
                for end, (x, chop) in zip(chop_ends[y], chops[y].items(), strict=False):
                    # Textual paints a chop from its start even if the span begins within it.
                    if chop is not None and x < x2 and end > x1:
                        paint_strip(chop, min(end, x2) - x, y, x, buffer, styles, maker)
        case _:
            raise TypeError(f"cannot paint {type(update).__name__}")


def paint_strip(
    segments: Iterable[Segment],
    width: int,
    y: int,
    x: int,
    buffer: ScreenBuffer,
    styles: StyleTable,
    maker: CellMaker,
) -> None:
    """Paint segments into exactly `width` columns.

    Textual may measure some clusters differently: the text is then cut off or padded with spaces,
    so that what is to its right keeps its column.
    """
    if not 0 <= y < buffer.height or width <= 0:
        return
    cells: Row = []
    style_id, link = 0, None
    for text, style, control in segments:
        if control:
            continue
        style_id, link = styles.look_up(style)
        cells += maker.cells(text, style_id, link)
        if len(cells) >= width:
            break
    if len(cells) > width:
        del cells[width:]
    elif len(cells) < width:
        cells += [maker.blank(style_id, link)] * (width - len(cells))
    buffer.put(y, x, cells, maker)
