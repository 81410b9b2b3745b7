"""Finds the grapheme cluster to the left or right of a cursor. Pure."""

from __future__ import annotations

from typing import Final

from tui.screen.width import is_plain

_NEAR_CHARS: Final = 64
"""Clusters longer than this are treated as several."""


def left_of(text: str, cursor: int) -> int:
    """Return the start of the cluster before the cursor; 0 at the start of the text."""
    if cursor == 0:
        return 0
    line = text.rfind("\n", 0, cursor) + 1
    if cursor == line:
        return cursor - 1
    surroundings = text[max(line, cursor - _NEAR_CHARS) : cursor]
    if is_plain(surroundings):
        return cursor - 1
    from wcwidth import iter_graphemes  # late: its tables take 17 ms to load

    *_, last = iter_graphemes(surroundings)
    return cursor - max(1, len(last))


def settled_length(text: str) -> int:
    """Return the length of a growing text without a last cluster that may still grow, such as half
    a flag or an emoji that another one may join."""
    if not text or not _may_grow(text[-1]):
        return len(text)
    start = len(text)
    while start > 0 and len(text) - start < _NEAR_CHARS and _may_grow(text[start - 1]):
        start -= 1
    from wcwidth import iter_graphemes  # late: as above

    *_, last = iter_graphemes(text[start:])
    return len(text) - len(last)


def _may_grow(character: str) -> bool:
    """Whether following characters may join this one: not for Latin, ideographs and kana."""
    is_ideograph = "\u2e80" <= character <= "\u9fff"
    return character >= "\u0300" and not is_ideograph and not is_plain(character)


def right_of(text: str, cursor: int) -> int:
    """Return the end of the cluster after the cursor; at the end of the text, the cursor."""
    if cursor >= len(text):
        return cursor
    surroundings = text[cursor : cursor + _NEAR_CHARS]
    if is_plain(surroundings):
        return cursor + 1
    from wcwidth import iter_graphemes  # late: as above

    first = next(iter(iter_graphemes(surroundings)), " ")
    return cursor + max(1, len(first))
