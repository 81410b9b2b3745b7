"""Rows with the searched words set apart. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from themes.theme import Role
from tui.text.styled_rows import Ink, Row, Run

_CURRENT: Final = Ink(Role.ACCENT, bold=True, reverse=True)


def row_with_hits(line: Row, needle: str, *, is_current: bool = False) -> Row:
    """Return the row with each occurrence on the selection's ground; the same row without any.

    Those of the row that was gone to last stand out from the others. `needle` is casefolded. Text
    that grows when it is casefolded shows no marks.
    """
    text = line.text
    folded = text.casefold()
    if not needle or needle not in folded or len(folded) != len(text):
        return line
    places = list(_places(folded, needle))
    return replace(line, runs=tuple(_mark_runs(line.runs, places, is_current)))


def _places(folded: str, needle: str) -> Iterator[tuple[int, int]]:
    at = folded.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = folded.find(needle, at + len(needle))


def _mark_runs(
    runs: tuple[Run, ...], places: list[tuple[int, int]], is_current: bool
) -> Iterator[Run]:
    start = 0
    for text, ink in runs:
        end = start + len(text)
        at = start
        for first, last in places:
            low, high = max(first, at), min(last, end)
            if low >= high:
                continue
            if at < low:
                yield text[at - start : low - start], ink
            looks = _CURRENT if is_current else replace(ink, ground=Role.SELECTION)
            yield text[low - start : high - start], looks
            at = high
        if at < end:
            yield text[at - start :], ink
        start = end
