"""Draw a terminal's screen as SVG: one still picture, or an animation of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final
from xml.sax.saxutils import escape

from pyte.screens import Char

from benchmarks.terminal import Emulator

_CELL_WIDTH: Final = 8.4
_CELL_HEIGHT: Final = 18
_MARGIN: Final = 14
_BAR_HEIGHT: Final = 34
_DEFAULT_FOREGROUND: Final = "#d8dee9"
_DEFAULT_BACKGROUND: Final = "#14171c"
_PALETTE: Final = {
    "black": "#2b303b",
    "red": "#e06c75",
    "green": "#98c379",
    "brown": "#e5c07b",
    "blue": "#61afef",
    "magenta": "#c678dd",
    "cyan": "#56b6c2",
    "white": "#c8ccd4",
    "brightblack": "#5c6370",
    "brightred": "#ef7f88",
    "brightgreen": "#a9d48a",
    "brightbrown": "#f0cd8c",
    "brightyellow": "#f0cd8c",
    "brightblue": "#7fc1ff",
    "brightmagenta": "#d68fee",
    "brightcyan": "#6cc8d4",
    "brightwhite": "#ffffff",
}


@dataclass(frozen=True, slots=True)
class Look:
    """The colors of the terminal."""

    foreground: str = _DEFAULT_FOREGROUND
    background: str = _DEFAULT_BACKGROUND
    palette: Mapping[str, str] = field(default_factory=lambda: _PALETTE)


PAPER: Final = Look(
    "#24292f",
    "#fdfdfb",
    {
        **_PALETTE,
        "black": "#24292f",
        "red": "#b3262e",
        "green": "#2c7a41",
        "brown": "#8a5a00",
        "blue": "#2f5bd0",
        "magenta": "#8a3fb0",
        "cyan": "#0f7580",
        "white": "#d5d7da",
        "brightblack": "#6a6f78",
    },
)
"""A light terminal."""


@dataclass(frozen=True, slots=True)
class Shot:
    """What a terminal showed at one moment."""

    rows: tuple[tuple[Char, ...], ...]
    caret: tuple[int, int] | None
    """Row and column of the cursor; None if it is hidden."""
    seconds: float = 2.0
    """How long it is shown in an animation."""

    def text(self) -> str:
        """Return the text, one line per row."""
        return "\n".join("".join(cell.data for cell in row) for row in self.rows)


def shoot(screen: Emulator, *, seconds: float = 2.0) -> Shot:
    """Take a picture of the screen as it is now."""
    rows = tuple(
        tuple(screen.buffer[row][column] for column in range(screen.columns))
        for row in range(screen.lines)
    )
    caret = None if screen.cursor_is_hidden else (screen.cursor.y, screen.cursor.x)
    return Shot(rows, caret, seconds)


def as_svg(shots: Sequence[Shot], *, title: str, look: Look | None = None, still: int = 0) -> str:
    """Draw a window that shows the shots one after another, in a loop.

    All shots must have the same size. A viewer without animation shows the shot with index `still`.
    """
    look = look or Look()
    width = len(shots[0].rows[0]) * _CELL_WIDTH + 2 * _MARGIN
    height = len(shots[0].rows) * _CELL_HEIGHT + 2 * _MARGIN + _BAR_HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'role="img" aria-label="{escape(title)}">',
        "<style>",
        "text{font:14px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}",
        ".b{font-weight:bold}.i{font-style:italic}.u{text-decoration:underline}"
        ".s{text-decoration:line-through}",
        *_animation(shots, still),
        "</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="9" fill="{look.background}"/>',
        *(
            f'<circle cx="{20 + 20 * index}" cy="18" r="6" fill="{color}"/>'
            for index, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        f'<text x="{width / 2:.0f}" y="23" text-anchor="middle" fill="#8b93a1">'
        f"{escape(title)}</text>",
    ]
    for number, shot in enumerate(shots):
        frame = f' class="f f{number}"' if len(shots) > 1 else ""
        lines += [
            f'<g{frame} transform="translate({_MARGIN} {_MARGIN + _BAR_HEIGHT})">',
            *_draw(shot, look),
            "</g>",
        ]
    return "\n".join([*lines, "</svg>", ""])


def _animation(shots: Sequence[Shot], still: int) -> Iterator[str]:
    if len(shots) == 1:
        return
    total_s = sum(shot.seconds for shot in shots)
    yield f".f{{visibility:hidden;animation:{total_s:g}s step-end infinite}}"
    begin_s = 0.0
    for number, shot in enumerate(shots):
        end_s = begin_s + shot.seconds
        first, last = (f"{100 * moment_s / total_s:.3f}%" for moment_s in (begin_s, end_s))
        hidden = "visibility:hidden"
        lead = f"0%{{{hidden}}}" if number else ""
        yield (
            f"@keyframes k{number}{{{lead}{first}{{visibility:visible}}{last}{{{hidden}}}}}"
            f".f{number}{{animation-name:k{number}}}"
        )
        begin_s = end_s
    # For viewers without animation, and for users who prefer reduced motion.
    yield f".f{still}{{visibility:visible}}"
    yield "@media (prefers-reduced-motion){.f{animation:none}}"


def _draw(shot: Shot, terminal: Look) -> Iterator[str]:
    for row, cells in enumerate(shot.rows):
        styled_cells = [(column, _painted(cell, terminal)) for column, cell in enumerate(cells)]
        for look, run in groupby(styled_cells, key=lambda item: _look(item[1])):
            cells_of_run = list(run)
            column = cells_of_run[0][0]
            text = "".join(cell.data for _, cell in cells_of_run)
            yield from _draw_run(row, column, len(cells_of_run), text, look, terminal)
    if shot.caret is not None:
        row, column = shot.caret
        yield (
            f'<rect x="{column * _CELL_WIDTH:.1f}" y="{row * _CELL_HEIGHT}" width="2" '
            f'height="{_CELL_HEIGHT}" fill="{terminal.foreground}"/>'
        )


_Ink = tuple[str, str, str]
"""Foreground, background, class names."""


def _draw_run(
    row: int, column: int, width: int, text: str, look: _Ink, terminal: Look
) -> Iterator[str]:
    foreground, background, classes = look
    left, top = column * _CELL_WIDTH, row * _CELL_HEIGHT
    if background != terminal.background:
        yield (
            f'<rect x="{left:.1f}" y="{top}" width="{width * _CELL_WIDTH:.1f}" '
            f'height="{_CELL_HEIGHT}" fill="{background}"/>'
        )
    visible = text.strip()
    if not visible:
        return
    indent = len(text) - len(text.lstrip())
    # The width excludes trailing blanks; wide characters have two cells, the second one empty.
    cells = (width - (len(text) - len(visible))) * _CELL_WIDTH
    of_class = f' class="{classes}"' if classes else ""
    yield (
        f'<text x="{left + indent * _CELL_WIDTH:.1f}" y="{top + 14}" fill="{foreground}"{of_class} '
        f'textLength="{cells:.1f}" lengthAdjust="spacingAndGlyphs">{escape(visible)}</text>'
    )


def _painted(cell: Char, terminal: Look) -> Char:
    """Resolve color names and reverse video to colors."""
    foreground = _color(cell.fg, terminal.foreground, terminal.palette)
    background = _color(cell.bg, terminal.background, terminal.palette)
    if cell.reverse:
        foreground, background = background, foreground
    return cell._replace(fg=foreground, bg=background, reverse=False)


def _color(name: str, default: str, palette: Mapping[str, str]) -> str:
    if name == "default":
        return default
    return palette.get(name) or f"#{name}"


def _look(cell: Char) -> _Ink:
    marks = (
        ("b", cell.bold),
        ("i", cell.italics),
        ("u", cell.underscore),
        ("s", cell.strikethrough),
    )
    return cell.fg, cell.bg, " ".join(name for name, is_set in marks if is_set)
