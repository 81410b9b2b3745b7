"""Parse colors, text attributes and links in the output of a status line command.

Only SGR (`ESC [ … m`) and links (OSC 8) are interpreted; every other sequence is removed. Colors
are stored by name, because the theme determines their shades.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import sanitize

Color = Literal["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
COLORS: Final[tuple[Color, ...]] = (
    "black", "red", "green", "yellow", "blue", "magenta", "cyan", "white",
)  # fmt: skip
"""In the order of the terminal's palette."""

_MEANT: Final = compile_late(
    r"\x1b\[(?P<sgr>[0-9;:]{0,64})m"
    r"|\x1b\]8;[^;\x00-\x1f]{0,256};(?P<link>[!-~]{0,2048})(?:\x07|\x1b\\)"
)
_SAFE_LINK: Final = compile_late(r"(?:https?|file)://.", re.IGNORECASE)
_GREY_SPREAD: Final = 24
"""A color whose channels differ by less than this is a shade of gray."""


class Piece(Struct, frozen=True):
    """Text in one style."""

    text: str
    color: Color | None = None
    """None for the color of the line."""
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    link: str | None = None
    """The http, https or file URL that the text links to."""


def pieces(line: str) -> tuple[Piece, ...]:
    """Return a line as pieces; their joined texts are the line without sequences."""
    return tuple(_pieces(line))


def _pieces(line: str) -> Iterator[Piece]:
    style = Piece("")
    position = 0
    for match in _MEANT.finditer(line):
        yield from _clean_text(line[position : match.start()], style)
        if match["sgr"] is not None:
            style = _apply_parameters(style, match["sgr"])
        else:
            address = match["link"]
            style = replace(style, link=address if _SAFE_LINK.match(address) else None)
        position = match.end()
    yield from _clean_text(line[position:], style)


def _clean_text(text: str, style: Piece) -> Iterator[Piece]:
    if visible := sanitize(text).replace("\n", " "):
        yield replace(style, text=visible)


_CHANGES: Final[Mapping[int, Mapping[str, object]]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    39: {"color": None},
    90: {"color": "black"},
    **{30 + index: {"color": color} for index, color in enumerate(COLORS)},
    **{90 + index: {"color": color} for index, color in enumerate(COLORS) if index},
}
"""What each SGR code without arguments changes."""


def _apply_parameters(style: Piece, parameters: str) -> Piece:
    codes = [int(part) if part else 0 for part in re.split("[;:]", parameters)]
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = Piece("", link=style.link)
        elif code in (38, 48):
            color, codes = _extended_color(codes)
            if code == 38:
                style = replace(style, color=color)
        else:
            style = replace(style, **_CHANGES.get(code, {}))
    return style


def _extended_color(codes: Sequence[int]) -> tuple[Color | None, list[int]]:
    """Return the color of a leading `5;n` or `2;r;g;b` (None if there is none) and the rest."""
    match list(codes):
        case [5, index, *rest]:
            return _indexed_color(index), rest
        case [2, red, green, blue, *rest]:
            return _nearest_color(red, green, blue), rest
        case _:
            return None, []


def _indexed_color(index: int) -> Color | None:
    if index > 255:
        return None
    if index < 16:
        return COLORS[index % 8]
    if index >= 232:
        return "black" if index < 246 else "white"
    cube = index - 16
    red, green, blue = cube // 36, cube // 6 % 6, cube % 6
    return _nearest_color(red * 51, green * 51, blue * 51)


def _nearest_color(red: int, green: int, blue: int) -> Color:
    """Return the name of the nearest color; channels are 0 to 255."""
    high, low = max(red, green, blue), min(red, green, blue)
    if high - low < _GREY_SPREAD:
        return "black" if high < 128 else "white"
    middle = (high + low) / 2
    bits = (red > middle) + 2 * (green > middle) + 4 * (blue > middle)
    return COLORS[bits]
