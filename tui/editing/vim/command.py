"""Parses keys of normal and visual mode: `3dw` is a count, a verb and a target. Pure."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from tui.editing.vim.motions import MOTIONS
from tui.editing.vim.objects import OBJECT_KEYS

OPERATORS: Final = frozenset({"d", "c", "y", "<", ">", "gu", "gU", "g~"})
SIMPLE: Final = frozenset("xXDCYsSJpPu.iIaAoOvV~")
VISUAL: Final = frozenset("xXDdcsSCyYJpP<>~uUovV")
FINDS: Final = frozenset("fFtT")
_G_MOTIONS: Final = frozenset({"gg", "ge", "gE"})
_BARE_MOTIONS: Final = frozenset({*MOTIONS, "G", ";", ","} - _G_MOTIONS)
MAX_COUNT: Final = 10_000


class Command(Struct, frozen=True):
    """One complete command."""

    verb: str
    """A key of `SIMPLE` or `VISUAL`, an operator, `r`, or empty for a move."""
    count: int = 0
    """0 if none was typed."""
    target: str = ""
    """A motion (`w`, `gg`, `fx`), an object (`iw`), `line` for whole lines, or the text of `r`."""

    @property
    def times(self) -> int:
        """How often to apply it, at least 1."""
        return max(1, self.count)


Unfinished = Literal["more"]


def parse(keys: str, *, is_visual: bool) -> Command | Unfinished | None:
    """Return the command; `more` if the keys may still become one, None if they cannot."""
    count, index = _count(keys, 0)
    if index == len(keys):
        return "more"
    verb = keys[index]
    if verb == "r":
        return "more" if index + 1 == len(keys) else Command("r", count, keys[index + 1])
    if is_visual and verb in "ia":
        return _object(keys, index, "", count)
    if is_visual and verb in VISUAL:
        return Command(verb, count)
    if is_visual and keys[index : index + 2] in OPERATORS:
        return Command(keys[index : index + 2], count)
    if not is_visual and verb in SIMPLE:
        return Command(verb, count)
    for length in (1, 2):
        if not is_visual and keys[index : index + length] in OPERATORS:
            return _read_operation(keys, index + length, keys[index : index + length], count)
    return _motion(keys, index, "", count)


def _read_operation(keys: str, index: int, verb: str, count: int) -> Command | Unfinished | None:
    more, index = _count(keys, index)
    if count or more:
        count = min(MAX_COUNT, max(1, count) * max(1, more))
    if index == len(keys):
        return "more"
    rest = keys[index:]
    if rest in (verb[-1], verb):
        return Command(verb, count, "line")
    if len(verb) == 2 and rest == "g":
        return "more"
    if rest[0] in "ia":
        return _object(keys, index, verb, count)
    return _motion(keys, index, verb, count)


def _object(keys: str, index: int, verb: str, count: int) -> Command | Unfinished | None:
    if index + 1 == len(keys):
        return "more"
    return Command(verb, count, keys[index : index + 2]) if keys[index + 1] in OBJECT_KEYS else None


def _motion(keys: str, index: int, verb: str, count: int) -> Command | Unfinished | None:
    rest = keys[index:]
    if rest[0] in FINDS or rest[0] == "g":
        if len(rest) == 1:
            return "more"
        is_known = rest[0] in FINDS or rest in _G_MOTIONS
        return Command(verb, count, rest) if is_known else None
    return Command(verb, count, rest) if rest in _BARE_MOTIONS else None


def _count(keys: str, index: int) -> tuple[int, int]:
    start = index
    while (
        index < len(keys) and keys[index] in "0123456789" and (index > start or keys[index] != "0")
    ):
        index += 1
    return (min(MAX_COUNT, int(keys[start:index][:6])) if index > start else 0), index
