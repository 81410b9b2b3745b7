"""Shows a theme in the 256 fixed colors of terminals without true color.

The nearest of 240 colors can be far away: tinted backgrounds lose their tint, and text that was
chosen to be readable is not. So each text takes the nearest color that is readable on all the
backgrounds it is shown on, and each background keeps its tint. Next: `themes.readable`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from themes.readable import DIFF_LINES, GROUNDS, LEAST, contrast, linear_light, luminance
from themes.theme import Role, Theme

_LEVELS: Final = (0, 95, 135, 175, 215, 255)
_FIRST: Final = 16
"""The number of the first color that no user has configured."""
_TINTED: Final = 0.02
"""Least distance from gray, in Oklab, at which a background has a visible tint."""
_COLORED: Final = 0.03
"""The same for text, whose strokes show less of a tint."""
_TURNS: Final = (math.radians(30), math.radians(60), math.pi)
"""How far the hue may be turned, in the order of preference."""
_TEXT_LEAST: Final = 4.5
_SECONDARY_LEAST: Final = 3.0
"""For secondary text in changed lines: more would make it as bright as other text everywhere."""

Lab = tuple[float, float, float]
"""Lightness, green to red, blue to yellow in Oklab."""


class Fixed(Struct, frozen=True):
    """One color of the palette that is the same in every terminal."""

    name: str
    """As `#rrggbb`."""
    lab: Lab
    luminance: float


def color_number(color: str) -> int | None:
    """Return the number (16 to 255) of a color `#rrggbb` in the fixed palette, or None."""
    return _numbers().get(color)


def with_indexed_colors(theme: Theme) -> Theme:
    """Return the theme with each `#rrggbb` replaced by a color of the fixed palette."""
    originals = {role: value for role, value in theme.roles.items() if value.startswith("#")}
    roles = dict(theme.roles)
    text = luminance(originals[Role.TEXT]) if Role.TEXT in originals else None
    others: set[str] = set()
    for role in GROUNDS:
        if role in originals:
            roles[role] = _ground(originals[role], text, others)
            # Surfaces of dialogs and of code differ little from the background in every theme.
            if role not in (Role.SURFACE, Role.CODE_BACKGROUND):
                others.add(roles[role])
    for role in originals.keys() - set(GROUNDS):
        most = _SECONDARY_LEAST if role is Role.MUTED else math.inf
        least = {
            luminance(roles[ground]): min(ratio, most) if ground in DIFF_LINES else ratio
            for ground, ratio in LEAST.get(role, {}).items()
            if ground in originals
        }
        roles[role] = _readable(originals[role], least)
    return replace(theme, roles=roles)


def _ground(color: str, text: float | None, others: set[str]) -> str:
    """Return the nearest background that has the color's tint and that text is readable on."""

    def is_possible(other: Fixed) -> bool:
        is_free = other.name not in others
        return is_free and (text is None or contrast(other.luminance, text) >= _TEXT_LEAST)

    return _nearest(color, _TINTED, is_possible) or color


def _readable(color: str, least: Mapping[float, float]) -> str:
    """Return the nearest color that has these contrast ratios to backgrounds of these luminances.

    If there is none, return the color whose worst ratio is best.
    """

    def margin(other: Fixed) -> float:
        ratios = (contrast(other.luminance, own) / ratio for own, ratio in least.items())
        return min(ratios, default=1.0)

    nearest = _nearest(color, _COLORED, lambda other: margin(other) >= 1.0)
    return nearest or max(_palette(), key=margin).name


def _nearest(color: str, gray_below: float, is_possible: Callable[[Fixed], bool]) -> str | None:
    """Return the nearest possible color whose hue is turned least; None if none is possible."""
    lab = _oklab(color)
    by_distance = sorted(_palette(), key=lambda other: math.dist(lab, other.lab))
    for most in _TURNS:
        for other in by_distance:
            if _turn(lab, other.lab, gray_below) <= most and is_possible(other):
                return other.name
    return None


def _turn(first: Lab, second: Lab, gray_below: float) -> float:
    """Return the angle between two hues, in radians; grays differ by half a turn from all else."""
    chroma, other = math.hypot(*first[1:]), math.hypot(*second[1:])
    if min(chroma, other) < gray_below:
        return 0.0 if max(chroma, other) < gray_below else math.pi
    cosine = (first[1] * second[1] + first[2] * second[2]) / (chroma * other)
    return math.acos(max(-1.0, min(1.0, cosine)))


@cache
def _palette() -> tuple[Fixed, ...]:
    """Return the 240 fixed colors of the palette, in its order."""
    cube = [f"#{r:02x}{g:02x}{b:02x}" for r in _LEVELS for g in _LEVELS for b in _LEVELS]
    grays = ["#" + f"{level:02x}" * 3 for level in range(8, 239, 10)]
    return tuple(Fixed(name, _oklab(name), luminance(name)) for name in (*cube, *grays))


@cache
def _numbers() -> dict[str, int]:
    return {color.name: _FIRST + index for index, color in enumerate(_palette())}


def _oklab(color: str) -> Lab:
    """Return a color in Oklab, where distances are as eyes see them (Ottosson 2020)."""
    r, g, b = linear_light(color)
    long = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) ** (1 / 3)
    medium = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) ** (1 / 3)
    short = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )
