"""Random screens for property tests."""

from __future__ import annotations

from hypothesis import strategies as st
from rich.color import ColorSystem

from tui.screen.cell import CellMaker
from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.style import StyleTable

CODES = ("", "1", "7", "3;4", "38;2;1;2;3", "2;48;5;7", "31;44", "21;9;53;38;5;200;48;2;9;9;9")
SINGLE = ("a", "b", "·", "─", "é", "好", "世", "🙂", "   ", "                    ", "word ")
CLUSTERED = (
    *SINGLE,
    "👩‍💻",
    "🇫🇷",
    "🇫",
    "🇷",
    "e\u0301",
    "क्षि",
    "ก\u0e33",
    "❤\ufe0f",
    "한",
    "ᄒ",
    "ᅡ",
)
LINKS = (None, None, None, "https://example.org/a", "file:///tmp/x")


class Canvas:
    """What buffers of one test share."""

    def __init__(self) -> None:
        self.styles = StyleTable(ColorSystem.TRUECOLOR)
        self.maker = CellMaker()
        self.ids = [self.styles.id_of(codes) for codes in CODES]


Spans = list[tuple[int, int, str, int, str | None]]


def spans(width: int, height: int, *, clustered: bool) -> st.SearchStrategy[Spans]:
    """Texts at places: column, row, text, index of a style, link."""
    return st.lists(
        st.tuples(
            st.integers(0, width - 1),
            st.integers(0, height - 1),
            st.lists(st.sampled_from(CLUSTERED if clustered else SINGLE), max_size=6).map("".join),
            st.integers(0, len(CODES) - 1),
            st.sampled_from(LINKS if clustered else (None,)),
        ),
        max_size=3 * height,
    )


def blank_buffer(canvas: Canvas, width: int, height: int) -> ScreenBuffer:
    buffer = ScreenBuffer(width, height)
    for y in range(height):
        buffer.put(y, 0, [canvas.maker.blank(0)] * width, canvas.maker)
    return buffer


def paint(canvas: Canvas, buffer: ScreenBuffer, texts: Spans) -> None:
    for x, y, text, style, link in texts:
        cells = canvas.maker.cells(text, canvas.ids[style], link)
        buffer.put(y, x, cells, canvas.maker)


def copy_of(buffer: ScreenBuffer, *, shifted_by: int = 0, top: int = 0) -> ScreenBuffer:
    """A copy, the rows from `top` on rotated up by some lines."""
    copied = ScreenBuffer(buffer.width, buffer.height)
    rows = [row.copy() for row in buffer.rows]
    moved = rows[top:]
    if moved:
        moved = moved[shifted_by % len(moved) :] + moved[: shifted_by % len(moved)]
    copied.rows = rows[:top] + moved
    return copied
