"""Marks search hits in rows. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from themes.theme import Role
from tui.text.styled_rows import Ink, Row, Run

_CURRENT: Final = Ink(Role.ACCENT, bold=True, reverse=True)


def row_with_hits(line: Row, needle: str, *, is_current: bool = False) -> Row:
    """Return the row with each occurrence highlighted; the same row if there is none.

    Hits of the current row are highlighted more strongly. `needle` is casefolded. Rows whose text
    gets longer when casefolded are not marked.
    """
    text = line.text
    lower_text = text.casefold()
    if not needle or needle not in lower_text or len(lower_text) != len(text):
        return line
    places = list(_places(lower_text, needle))
    return replace(line, runs=tuple(_mark_runs(line.runs, places, is_current)))


def _places(lower_text: str, needle: str) -> Iterator[tuple[int, int]]:
    start = lower_text.find(needle)
    while start >= 0:
        yield start, start + len(needle)
        start = lower_text.find(needle, start + len(needle))


def _mark_runs(
    runs: tuple[Run, ...], places: list[tuple[int, int]], is_current: bool
) -> Iterator[Run]:
    start = 0
    for text, ink in runs:
        end = start + len(text)
        position = start
        for first, last in places:
            low, high = max(first, position), min(last, end)
            if low >= high:
                continue
            if position < low:
                yield text[position - start : low - start], ink
            looks = _CURRENT if is_current else replace(ink, ground=Role.SELECTION)
            yield text[low - start : high - start], looks
            position = high
        if position < end:
            yield text[position - start :], ink
        start = end
