"""A file's change as rows: hunks with line numbers, syntax highlighting and changed words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct

from agent.display import DiffDisplay
from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.text.highlight import HighlightedLine
from tui.text.styled_rows import MUTED, Ink, Row, Run
from tui.text.wrap import hard_wrap
from tui.transcript.diff.line_matching import changed_groups, matcher_of

CONTEXT_LINES: Final = 3
_MAX_DIFF_LINES: Final = 20_000
_WORDS: Final = compile_late(r"\w+|\s+|[^\w\s]")
_SIGN_CELLS: Final = 3
_MARKED_PAIRS: Final = 300
"""Maximum number of pairs of lines in a change that are compared by words: each takes 0.1 ms."""
_MAX_WORDS: Final = 800
"""Maximum number of words of two lines together: longer lines are not compared."""
_SIMILAR_ENOUGH: Final = 0.5
"""Minimum similarity of two lines for marking changed words."""


class DiffLine(Struct, frozen=True):
    """One line of a hunk."""

    kind: Literal["same", "added", "removed"]
    old_number: int | None
    """Counted from 1; None for an added line."""
    new_number: int | None
    text: str
    other: str | None = None
    """The corresponding line of the other side, if changed words are to be marked."""


class DiffHunks(Struct, frozen=True):
    """All hunks of one file."""

    hunks: tuple[tuple[DiffLine, ...], ...]
    added_count: int
    removed_count: int


@lru_cache(maxsize=64)
def diff_texts(old: str, new: str, context: int = CONTEXT_LINES) -> DiffHunks:
    """Return the hunks between two texts."""
    old_texts, new_texts = old.splitlines(), new.splitlines()
    if len(old_texts) + len(new_texts) > _MAX_DIFF_LINES:
        return _whole_replacement(old_texts, new_texts)
    hunks: list[tuple[DiffLine, ...]] = []
    added_count = removed_count = 0
    pair_budget = _MARKED_PAIRS
    for group in changed_groups(old_texts, new_texts, context):
        lines: list[DiffLine] = []
        for is_same, i1, i2, j1, j2 in group:
            if is_same:
                lines.extend(
                    DiffLine("same", i1 + k + 1, j1 + k + 1, old_texts[i1 + k])
                    for k in range(i2 - i1)
                )
                continue
            added_count += j2 - j1
            removed_count += i2 - i1
            removed_texts, added_texts = old_texts[i1:i2], new_texts[j1:j2]
            candidates = _candidates(i2 - i1, j2 - j1, pair_budget)
            pair_budget -= len(candidates)
            others = _similar_pairs(removed_texts, added_texts, candidates)
            lines.extend(_replacement(removed_texts, added_texts, i1, j1, others))
        hunks.append(tuple(lines))
    return DiffHunks(tuple(hunks), added_count, removed_count)


def diff_counts(display: DiffDisplay) -> tuple[Run, ...]:
    """Return the number of changed lines as `+2 −1`, in the colors of the signs."""
    diff = diff_texts(display.old, display.new)
    runs: list[Run] = []
    if diff.added_count or not diff.removed_count:
        runs.append((f"+{diff.added_count}", Ink(Role.DIFF_ADDED_SIGN)))
    if diff.removed_count:
        gap = " " if runs else ""
        runs.append((f"{gap}−{diff.removed_count}", Ink(Role.DIFF_REMOVED_SIGN)))
    return tuple(runs)


def first_changed_line(display: DiffDisplay) -> int:
    """Return the number of the first changed line in the new file."""
    hunks = diff_texts(display.old, display.new).hunks
    line_numbers = (
        line.new_number or line.old_number or 1
        for hunk in hunks
        for line in hunk
        if line.kind != "same"
    )
    return display.first_line - 1 + next(line_numbers, 1)


def line_room(width_cells: int, digits: int, indent: int) -> int:
    """Return the width available for the text of a line, in cells."""
    return max(1, width_cells - indent - digits - _SIGN_CELLS - 1)


def diff_line_rows(
    line: DiffLine,
    old_lines: Sequence[HighlightedLine],
    new_lines: Sequence[HighlightedLine],
    digits: int,
    width_cells: int,
    indent: int,
    *,
    first_line: int = 1,
) -> Iterator[Row]:
    """Yield the rows of one line; `digits` is the width of line numbers.

    `old_lines` and `new_lines` are highlighted; `first_line` is the number of their first line.
    """
    sign, ground, word_ground, sign_role = _LOOKS[line.kind]
    source, number = (
        (old_lines, line.old_number) if line.kind == "removed" else (new_lines, line.new_number)
    )
    runs_in_color: Sequence[Run] = ((line.text, Ink()),)
    if number is not None and number <= len(source):
        candidate = source[number - 1]
        if "".join(text for text, _ in candidate) == line.text:
            runs_in_color = candidate
    marked_runs = _mark(runs_in_color, _changed_ranges(line), word_ground)
    gutter = indent + digits + _SIGN_CELLS
    label = f"{'' if number is None else number + first_line - 1:>{digits}}"
    for position, part in enumerate(hard_wrap(marked_runs, line_room(width_cells, digits, indent))):
        head: tuple[Run, ...] = (
            (" " * indent, MUTED),
            (label if not position else " " * digits, Ink(Role.MUTED)),
            (f" {sign} ", Ink(sign_role)) if not position else (" ↪ ", Ink(Role.FAINT)),
        )
        runs = (
            head[0],
            *((text, ink.with_ground(ground)) for text, ink in (*head[1:], *part.runs)),
        )
        of_patch = sign if not position else ""
        yield Row(runs, gutter, part.joint, ground, patch_sign=of_patch)


_LOOKS: Final[dict[str, tuple[str, Role | None, Role | None, Role]]] = {
    "same": (" ", None, None, Role.FAINT),
    "added": ("+", Role.DIFF_ADDED, Role.DIFF_ADDED_WORD, Role.DIFF_ADDED_SIGN),
    "removed": ("-", Role.DIFF_REMOVED, Role.DIFF_REMOVED_WORD, Role.DIFF_REMOVED_SIGN),
}


def _mark(runs: Sequence[Run], ranges: Sequence[tuple[int, int]], ground: Role | None) -> list[Run]:
    """Return the runs with a background for the changed character ranges."""
    if not ranges or ground is None:
        return list(runs)
    marked_runs: list[Run] = []
    position = 0
    for text, ink in runs:
        cuts = {0, len(text)}
        for start, end in ranges:
            cuts.update(min(max(edge - position, 0), len(text)) for edge in (start, end))
        edges = sorted(cuts)
        for begin, stop in pairwise(edges):
            middle = position + begin
            is_changed = any(start <= middle < end for start, end in ranges)
            marked_runs.append((text[begin:stop], ink.with_ground(ground) if is_changed else ink))
        position += len(text)
    return marked_runs


def _candidates(old_count: int, new_count: int, limit: int) -> list[tuple[int, int]]:
    """Return the pairs of lines to compare: all if they are few, otherwise those in order."""
    if old_count * new_count <= limit:
        return [(old, new) for old in range(old_count) for new in range(new_count)]
    return [(k, k) for k in range(min(old_count, new_count, limit))]


def _similar_pairs(
    old: Sequence[str], new: Sequence[str], candidates: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return pairs of removed and added lines, each line at most once, the most similar first."""
    ratios = [(_similarity(old[i], new[j]), -abs(i - j), i, j) for i, j in candidates]
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    pairs: list[tuple[int, int]] = []
    for ratio, _, i, j in sorted(ratios, reverse=True):
        if ratio < _SIMILAR_ENOUGH or i in taken_old or j in taken_new:
            continue
        taken_old.add(i)
        taken_new.add(j)
        pairs.append((i, j))
    return pairs


def _similarity(old: str, new: str) -> float:
    """Return the similarity of two lines, 0 to 1, ignoring spaces."""
    old_words = [word for word in _WORDS.findall(old) if not word.isspace()]
    new_words = [word for word in _WORDS.findall(new) if not word.isspace()]
    if not old_words or not new_words or len(old_words) + len(new_words) > _MAX_WORDS:
        return 0.0
    matcher = matcher_of(old_words, new_words)
    # The first two ratios are upper bounds that are fast to compute.
    if min(matcher.real_quick_ratio(), matcher.quick_ratio()) < _SIMILAR_ENOUGH:
        return 0.0
    return matcher.ratio()


def _replacement(
    removed_texts: Sequence[str],
    added_texts: Sequence[str],
    i1: int,
    j1: int,
    others: Sequence[tuple[int, int]],
) -> Iterator[DiffLine]:
    """Yield removed lines, then added lines; those of a pair refer to each other."""
    of_old = dict(others)
    of_new = {new: old for old, new in others}
    for k, text in enumerate(removed_texts):
        other = added_texts[of_old[k]] if k in of_old else None
        yield DiffLine("removed", i1 + k + 1, None, text, other)
    for k, text in enumerate(added_texts):
        other = removed_texts[of_new[k]] if k in of_new else None
        yield DiffLine("added", None, j1 + k + 1, text, other)


def _changed_ranges(line: DiffLine) -> tuple[tuple[int, int], ...]:
    """Return the character ranges in which a line differs from its corresponding line."""
    if line.other is None:
        return ()
    if line.kind == "removed":
        return _changed_words(line.text, line.other)[0]
    return _changed_words(line.other, line.text)[1]


@lru_cache(maxsize=1024)
def _changed_words(
    old: str, new: str
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    matcher = matcher_of(old_words, new_words)
    old_ranges: list[tuple[int, int]] = []
    new_ranges: list[tuple[int, int]] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        _add_range(old_ranges, old_words, i1, i2)
        _add_range(new_ranges, new_words, j1, j2)
    return tuple(old_ranges), tuple(new_ranges)


def _add_range(ranges: list[tuple[int, int]], words: Sequence[str], first: int, end: int) -> None:
    if first == end:
        return
    start = sum(map(len, words[:first]))
    stop = start + sum(map(len, words[first:end]))
    if ranges and ranges[-1][1] == start:
        ranges[-1] = (ranges[-1][0], stop)
    else:
        ranges.append((start, stop))


def _whole_replacement(old: Sequence[str], new: Sequence[str]) -> DiffHunks:
    """Return a simple diff of huge texts: everything between common start and end is replaced."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_end, new_end = len(old) - end, len(new) - end
    lines = (
        *(DiffLine("removed", i + 1, None, old[i]) for i in range(start, old_end)),
        *(DiffLine("added", None, i + 1, new[i]) for i in range(start, new_end)),
    )
    return DiffHunks((lines,) if lines else (), new_end - start, old_end - start)
