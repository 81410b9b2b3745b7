"""Images over the cells of a frame, for terminals that support sixels.

A sixel image consists of pixels, which text written over it erases. Therefore an image is drawn
again whenever one of its cells was written, and only while it is completely visible. Its cells are
spaces whose foreground color encodes the image's number.
"""

from __future__ import annotations

from msgspec import Struct

from tui.screen.cell import UNKNOWN, Row
from tui.screen.cell_diff import Diff
from tui.screen.encode import TerminalState, move_cursor
from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.style import StyleTable


class Sixel(Struct, frozen=True):
    """An image as a sixel sequence, and its size in cells."""

    columns: int
    rows: int
    sequence: str


class Spot(Struct, frozen=True):
    """An image, and the row and column of its first cell."""

    number: int
    y: int
    x: int


class SixelLayer:
    """Which images the terminal shows, and where."""

    def __init__(self) -> None:
        self._sixels: dict[int, Sixel] = {}
        self._visible_spots: frozenset[Spot] = frozenset()
        self._target_spots: frozenset[Spot] = frozenset()
        self._styles: StyleTable | None = None
        self._numbers: dict[int, int] = {}
        """Image numbers by style id; -1 for styles that are not an image's."""

    def add(self, number: int, columns: int, rows: int, sequence: str) -> None:
        """Add an image; cells with its number show it from the next frame on."""
        self._sixels[number] = Sixel(columns, rows, sequence)

    def forget_terminal(self) -> None:
        """Draw every image with the next frame."""
        self._visible_spots = frozenset()

    def clear_moved(self, front: ScreenBuffer, back: ScreenBuffer, styles: StyleTable) -> None:
        """Invalidate the cells of `front` where an image has disappeared or moved."""
        if not self._sixels:
            return
        if styles is not self._styles:
            self._styles, self._numbers = styles, {}
        self._target_spots = self._find_visible(back)
        for spot in self._visible_spots - self._target_spots:
            sixel = self._sixels[spot.number]
            for row in front.rows[spot.y : spot.y + sixel.rows]:
                end = min(spot.x + sixel.columns, len(row))
                row[spot.x : end] = [UNKNOWN] * (end - spot.x)

    def draw(self, diff: Diff, state: TerminalState) -> str:
        """Return codes that draw images that are new or were written over; to be called last."""
        if not self._sixels:
            return ""
        codes: list[str] = []
        for spot in sorted(self._target_spots, key=lambda spot: (spot.y, spot.x)):
            sixel = self._sixels[spot.number]
            if spot in self._visible_spots and not _touches(diff, spot, sixel):
                continue
            codes += (move_cursor(spot.x, spot.y, state), sixel.sequence)
            state.x = state.y = None
        self._visible_spots = self._target_spots
        return "".join(codes)

    def _find_visible(self, back: ScreenBuffer) -> frozenset[Spot]:
        """Return the images that are completely visible."""
        spots: list[Spot] = []
        open_at: tuple[int, int, int] | None = None
        """Number, column and first row of the image whose rows are being counted."""
        for y, row in enumerate(back.rows):
            place = self._first_image_in(row)
            if place is None or open_at is None or open_at[:2] != place:
                open_at = (*place, y) if place is not None else None
            if open_at is not None:
                number, x, top = open_at
                if y - top + 1 == self._sixels[number].rows:
                    spots.append(Spot(number, top, x))
                    open_at = None
        return frozenset(spots)

    def _first_image_in(self, row: Row) -> tuple[int, int] | None:
        """Return the number and column of the first image in a row; None without one."""
        previous = -1
        for x, cell in enumerate(row):
            if cell.style_id == previous:
                continue
            previous = cell.style_id
            sixel = self._sixels.get(number := self._number(previous))
            if sixel is not None and row[x : x + sixel.columns].count(cell) == sixel.columns:
                return number, x
        return None

    def _number(self, style_id: int) -> int:
        number = self._numbers.get(style_id)
        if number is None:
            assert self._styles is not None
            number = -1 if style_id < 0 else _number_of(self._styles.pen(style_id).foreground)
            self._numbers[style_id] = number
        return number


def _number_of(foreground: str) -> int:
    """Return an image's number from the SGR foreground of its cells; -1 for other colors."""
    parts = foreground.split(";")
    if parts[:2] != ["38", "2"] or len(parts) != 5:
        return -1
    red, green, blue = map(int, parts[2:])
    return red << 16 | green << 8 | blue


def _touches(diff: Diff, spot: Spot, sixel: Sixel) -> bool:
    bottom, right = spot.y + sixel.rows, spot.x + sixel.columns
    if diff.shift is not None and diff.shift.top < bottom and diff.shift.bottom >= spot.y:
        return True
    return any(
        spot.y <= run.y < bottom and run.x < right and run.x + len(run.cells) > spot.x
        for run in diff.runs
    )
