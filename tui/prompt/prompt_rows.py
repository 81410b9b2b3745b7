"""Styles the prompt's text: chips, `@` mentions, a command's name, the selection."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

from themes.theme import Role
from tui.editing.draft import Draft, is_chip
from tui.editing.edit_layout import EditRow
from tui.text.styled_rows import FAINT, MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import clip, runs_width

SIGN_CELLS = 3


@lru_cache(maxsize=8)
def rule(width: int, ink: Ink, right: str = "", left: str = "") -> Row:
    """Return a horizontal rule, with a text near its left end and one near its right end."""
    begin: list[Run] = [("───", ink), (left, Ink(Role.ACCENT))] if left else []
    end: list[Run] = []
    if right:
        room = max(0, width - 6 - runs_width(begin))
        end = [*clip([(right, MUTED)], room), ("───", ink)]
    gap = max(0, width - runs_width(begin) - runs_width(end))
    return Row(tuple(clip([*begin, ("─" * gap, ink), *end], width)), is_copied=False)


def sign(prefix: str) -> Run:
    """Return the sign before the first row; `prefix` is `Composer.prefix`."""
    # The `!` itself is part of the text.
    return (" ❯ ", Ink(Role.SHELL if prefix == "!" else Role.ACCENT, bold=True))


def text_row(line: EditRow, draft: Draft, prefix: str, *, is_first: bool, width: int) -> Row:
    """Return one row of the text."""
    runs: list[Run] = []
    base = Ink(Role.SHELL) if prefix == "!" else TEXT
    for char_run, is_paste in _chip_runs(draft.text[line.start : line.end]):
        if is_paste:
            chip = draft.chips.get(char_run)
            runs.append((chip.label if chip else " ", Ink(Role.ACCENT, Role.SURFACE_RAISED)))
        else:
            runs.extend(_mentions(char_run, base))
    if line.start == 0 and prefix == "/" and runs:
        head, _, rest = runs[0][0].partition(" ")
        runs[0:1] = [(head, Ink(Role.ACCENT)), ((" " + rest) if rest else "", base)]
    first: Run = sign(prefix) if is_first else ("   ", FAINT)
    return Row((first, *(run for run in clip(runs, width - SIGN_CELLS) if run[0])))


def marked_row(
    line: EditRow, draft: Draft, prefix: str, part: tuple[int, int], *, is_first: bool, width: int
) -> Row:
    """Return a row with its part of the selection, without the colors of words."""
    runs: list[Run] = [sign(prefix) if is_first else ("   ", FAINT)]
    selection_ink = TEXT.with_ground(Role.SELECTION)
    start, end = part
    for place in range(line.start, line.end):
        chip = draft.chips.get(draft.text[place])
        label = chip.label if chip is not None else draft.text[place]
        runs.append((label, selection_ink if start <= place < end else TEXT))
    is_break = draft.text[line.end : line.end + 1] == "\n"
    if (line.start == line.end or is_break) and start <= line.end < end:
        # Make a selected line break visible.
        runs.append((" ", selection_ink))
    # Join equal runs, so that clusters of several characters stay together.
    clean_runs = [
        ("".join(text for text, _ in alike), ink)
        for ink, alike in groupby(runs, lambda run: run[1])
    ]
    return Row(tuple(clip(clean_runs, width)))


def _chip_runs(text: str) -> Iterable[tuple[str, bool]]:
    """Yield pieces of text and single chips, each with whether it is a chip."""
    piece = ""
    for char in text:
        if is_chip(char):
            if piece:
                yield piece, False
                piece = ""
            yield char, True
        else:
            piece += char
    if piece:
        yield piece, False


def _mentions(text: str, ink: Ink) -> Iterable[Run]:
    """Yield the text with `@path` words in another ink."""
    if "@" not in text:
        yield text, ink
        return
    word = ""
    for char in text + "\0":
        if char != "\0" and not char.isspace():
            word += char
            continue
        if word:
            is_mention = word.startswith("@") and len(word) > 1
            yield word, Ink(Role.ACCENT) if is_mention else ink
        word = ""
        if char != "\0":
            yield char, ink
