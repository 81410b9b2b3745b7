"""Styles as small integers, and the shortest codes that switch from one style to another."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from rich.color import Color, ColorSystem
from rich.style import Style
from textual.strip import Strip

from themes.indexed import color_number

DEFAULT_STYLE_ID: Final = 0
"""No attributes, the terminal's default colors."""

_STYLE_LIMIT: Final = 4096

# SGR: each code that turns attributes off, and the codes of these attributes.
_OFF_CODES: Final = (
    (22, (1, 2)),
    (23, (3,)),
    (24, (4, 21)),
    (25, (5, 6)),
    (27, (7,)),
    (28, (8,)),
    (29, (9,)),
    (54, (51, 52)),
    (55, (53,)),
)
_INVISIBLE_ON_BLANKS: Final = frozenset({1, 2, 3})
"""Attributes that are invisible on spaces, so that erasing looks like writing spaces."""


class Pen(Struct, frozen=True):
    """The attributes and colors that the terminal draws with."""

    attributes: frozenset[int] = frozenset()
    """SGR codes of the attributes that are on."""
    foreground: str = ""
    """SGR parameters; "" is the terminal's default color."""
    background: str = ""


class StyleTable:
    """Assigns numbers to appearances; styles that look the same get the same number."""

    def __init__(self, color_system: ColorSystem) -> None:
        self.color_system: Final = color_system
        self._ids: dict[str, int] = {"": DEFAULT_STYLE_ID}
        self._pens: list[Pen] = [Pen()]
        self._by_style: dict[Style, tuple[int, str | None]] = {}
        self._transitions: dict[tuple[int, int], str] = {}

    @property
    def is_full(self) -> bool:
        """Whether the table should be replaced; then the numbers of this one become invalid."""
        return len(self._pens) > _STYLE_LIMIT

    def look_up(self, style: Style | None) -> tuple[int, str | None]:
        """Return the number and the link of a style; None means the default style."""
        if style is None:
            return DEFAULT_STYLE_ID, None
        entry = self._by_style.get(style)
        if entry is None:
            # Only a cache: many styles that differ in metadata have the same appearance.
            if len(self._by_style) > _STYLE_LIMIT:
                self._by_style.clear()
            if self.color_system is ColorSystem.EIGHT_BIT:
                style = _with_numbers(style)
            codes = Strip.render_ansi(style, self.color_system)
            entry = self._by_style[style] = (self.id_of(codes), style.link or None)
        return entry

    def id_of(self, codes: str) -> int:
        """Return the number of an appearance, from its SGR parameters ("1;38;5;7")."""
        style_id = self._ids.get(codes)
        if style_id is None:
            style_id = self._ids[codes] = len(self._pens)
            self._pens.append(_parse_pen(codes))
        return style_id

    def pen(self, style_id: int) -> Pen:
        """Return the appearance with this number."""
        return self._pens[style_id]

    def is_plain_blank(self, style_id: int, *, fills_background: bool) -> bool:
        """Return whether erasing with this pen looks like writing spaces with it.

        `fills_background`: whether the terminal erases with the current background color.
        """
        pen = self._pens[style_id]
        return pen.attributes <= _INVISIBLE_ON_BLANKS and (fills_background or not pen.background)

    def transition(self, old_id: int | None, new_id: int) -> str:
        """Return the shortest code that changes the pen; `old_id` None means an unknown pen."""
        if old_id == new_id:
            return ""
        if old_id is None:
            return _sgr(["0", *_parameters(self._pens[new_id])])
        key = (old_id, new_id)
        code = self._transitions.get(key)
        if code is None:
            if len(self._transitions) > _STYLE_LIMIT:
                self._transitions.clear()
            code = self._transitions[key] = _transition(self._pens[old_id], self._pens[new_id])
        return code


def _with_numbers(style: Style) -> Style:
    """Return a style whose colors of the fixed palette have their numbers.

    Rich chooses another gray for many grays of the palette.
    """
    return style + Style(color=_as_number(style.color), bgcolor=_as_number(style.bgcolor))


def _as_number(color: Color | None) -> Color | None:
    if color is None or color.triplet is None:
        return None
    number = color_number(color.triplet.hex)
    return None if number is None else Color.from_ansi(number)


def _transition(old: Pen, new: Pen) -> str:
    changes: list[str] = []
    remaining = set(old.attributes)
    for off_code, codes in _OFF_CODES:
        if (old.attributes - new.attributes).intersection(codes):
            changes.append(str(off_code))
            remaining.difference_update(codes)
    changes.extend(str(code) for code in sorted(new.attributes - remaining))
    if new.foreground != old.foreground:
        changes.append(new.foreground or "39")
    if new.background != old.background:
        changes.append(new.background or "49")
    if not changes:
        return ""
    fresh = _parameters(new)
    from_scratch = _sgr(["0", *fresh] if fresh else [])
    return min(_sgr(changes), from_scratch, key=len)


def _parameters(pen: Pen) -> list[str]:
    codes = [str(code) for code in sorted(pen.attributes)]
    return [*codes, *(color for color in (pen.foreground, pen.background) if color)]


def _sgr(parameters: list[str]) -> str:
    return f"\x1b[{';'.join(parameters)}m"


def _parse_pen(codes: str) -> Pen:
    attributes: set[int] = set()
    foreground = background = ""
    parameters = codes.split(";")
    position = 0
    while position < len(parameters):
        code = int(parameters[position])
        length = 1
        if code in (38, 48):
            length = 5 if parameters[position + 1] == "2" else 3
        text = ";".join(parameters[position : position + length])
        if code in (39, 49):
            text = ""
        if code in (38, 39) or 30 <= code <= 37 or 90 <= code <= 97:
            foreground = text
        elif code in (48, 49) or 40 <= code <= 47 or 100 <= code <= 107:
            background = text
        else:
            attributes.add(code)
        position += length
    return Pen(frozenset(attributes), foreground, background)
