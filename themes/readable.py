"""Which text is read on which background, and how much they must differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from themes.theme import Role

SYNTAX: Final = tuple(role for role in Role if role.value.startswith("syntax_"))
READ: Final = (
    Role.TEXT,
    Role.MUTED,
    Role.ACCENT,
    Role.PERSON,
    Role.ASSISTANT,
    Role.SUCCESS,
    Role.WARNING,
    Role.ERROR,
    Role.SHELL,
    Role.HEADING,
    Role.CODE,
    Role.QUOTE,
    Role.LINK,
    Role.DIFF_ADDED_SIGN,
    Role.DIFF_REMOVED_SIGN,
    *(role for role in Role if role.value.startswith("mode_")),
    *SYNTAX,
)
"""Roles of text that is meant to be read."""
DIFF_LINES: Final = (Role.DIFF_ADDED, Role.DIFF_REMOVED)
_WORDS: Final = (Role.DIFF_ADDED_WORD, Role.DIFF_REMOVED_WORD)
GROUNDS: Final = (
    Role.BACKGROUND,
    Role.SURFACE,
    Role.SURFACE_RAISED,
    Role.CODE_BACKGROUND,
    Role.SELECTION,
    *DIFF_LINES,
    *_WORDS,
)
"""Roles of backgrounds."""

_RULES: Final = (
    (READ, (Role.BACKGROUND, Role.SURFACE, Role.CODE_BACKGROUND), 4.5),
    ((Role.TEXT, Role.MUTED, Role.ACCENT), (Role.SURFACE_RAISED,), 4.5),
    ((Role.TEXT, Role.MUTED, *SYNTAX), DIFF_LINES, 4.5),
    ((Role.DIFF_ADDED_SIGN,), (Role.DIFF_ADDED,), 4.5),
    ((Role.DIFF_REMOVED_SIGN,), (Role.DIFF_REMOVED,), 4.5),
    ((Role.TEXT, *SYNTAX), _WORDS, 4.5),
    ((Role.TEXT,), (Role.SELECTION,), 4.5),
    (READ, (Role.SELECTION,), 3.0),
)


def _least() -> dict[Role, dict[Role, float]]:
    least: dict[Role, dict[Role, float]] = {role: {} for role in READ}
    for roles, grounds, ratio in _RULES:
        for role in roles:
            for ground in grounds:
                least[role][ground] = max(ratio, least[role].get(ground, 0.0))
    return least


LEAST: Final[Mapping[Role, Mapping[Role, float]]] = _least()
"""For each role that is read, the least contrast ratio (WCAG, 1 to 21) on each background."""


_WEIGHTS: Final = (0.2126, 0.7152, 0.0722)
"""How much red, green and blue light contribute to luminance."""


def contrast(first: float, second: float) -> float:
    """Return the WCAG contrast ratio (1 to 21) of two luminances."""
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)


def luminance(color: str) -> float:
    """Return the WCAG luminance (0 to 1) of a color `#rrggbb`."""
    return sum(w * share for w, share in zip(_WEIGHTS, linear_light(color), strict=True))


def linear_light(color: str) -> tuple[float, float, float]:
    """Return the shares of red, green and blue light (0 to 1) of a color `#rrggbb`."""
    return _linear(color[1:3]), _linear(color[3:5]), _linear(color[5:7])


def _linear(digits: str) -> float:
    channel = int(digits, 16) / 255
    return channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4
