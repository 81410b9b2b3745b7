"""One visible character to the left or right of a cursor, whatever it is made of. Pure."""

from __future__ import annotations

from typing import Final

from tui.screen.width import is_plain

_NEAR_CHARS: Final = 64
"""Clusters longer than this are stepped through in pieces."""


def left_of(text: str, cursor: int) -> int:
    """Return where the character before the cursor begins; 0 stays 0."""
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
    """Return how much of a growing text cannot change any more: all but a last cluster that may
    grow, such as half a flag or an emoji that another may join."""
    if not text or not _may_grow(text[-1]):
        return len(text)
    start = len(text)
    while start > 0 and len(text) - start < _NEAR_CHARS and _may_grow(text[start - 1]):
        start -= 1
    from wcwidth import iter_graphemes  # late: as above

    *_, last = iter_graphemes(text[start:])
    return len(text) - len(last)


def _may_grow(character: str) -> bool:
    """Whether what follows may join a character: not Latin, and not an ideograph or kana."""
    is_ideograph = "\u2e80" <= character <= "\u9fff"
    return character >= "\u0300" and not is_ideograph and not is_plain(character)


def right_of(text: str, cursor: int) -> int:
    """Return where the character after the cursor ends; the end stays the end."""
    if cursor >= len(text):
        return cursor
    surroundings = text[cursor : cursor + _NEAR_CHARS]
    if is_plain(surroundings):
        return cursor + 1
    from wcwidth import iter_graphemes  # late: as above

    first = next(iter(iter_graphemes(surroundings)), " ")
    return cursor + max(1, len(first))
