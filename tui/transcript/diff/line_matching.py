"""Finds equal lines of two texts; lines between them have changed. Pure.

Short texts are compared by `difflib`, whose result is the most readable, in quadratic time. Long
texts are first split at lines that occur once in both, so that no frame is delayed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

if TYPE_CHECKING:
    from difflib import SequenceMatcher

_EXACT_LINES: Final = 800
"""Maximum number of lines of both texts for `difflib`; twice as many take four times as long."""
_EXACT_PAIRS: Final = 40_000
"""Maximum number of pairs of equal lines for `difflib`, which take some 5 ms."""


_Name = TypeVar("_Name")


class LineSpan(NamedTuple):
    """Lines `old_start` to `old_end` of the old text; `new_start` to `new_end` of the new one."""

    is_same: bool
    old_start: int
    old_end: int
    new_start: int
    new_end: int


def matcher_of(old: Sequence[str], new: Sequence[str]) -> SequenceMatcher[str]:
    """Return a matcher that compares two short sequences exactly."""
    from difflib import SequenceMatcher  # with the first change shown, not with the first frame

    return SequenceMatcher(None, old, new, autojunk=False)


def changed_groups(
    old: Sequence[str], new: Sequence[str], context: int
) -> Iterator[list[LineSpan]]:
    """Yield groups of changes in order, each with up to `context` equal lines around it."""
    group: list[LineSpan] = []
    for span in _spans(old, new):
        if not span.is_same:
            group.append(span)
            continue
        is_last = span.old_end == len(old) and span.new_end == len(new)
        if group:
            if not is_last and span.old_end - span.old_start <= 2 * context:
                group.append(span)
                continue
            yield _with_lines_after(group, span, context)
            group = []
        if context:
            size = min(context, span.old_end - span.old_start)
            group = [span._replace(old_start=span.old_end - size, new_start=span.new_end - size)]
    if any(not span.is_same for span in group):
        yield group


def _with_lines_after(group: list[LineSpan], span: LineSpan, context: int) -> list[LineSpan]:
    size = min(context, span.old_end - span.old_start)
    if size:
        group.append(span._replace(old_end=span.old_start + size, new_end=span.new_start + size))
    return group


def _spans(old_lines: Sequence[str], new_lines: Sequence[str]) -> Iterator[LineSpan]:
    """Yield all lines of both texts, as alternating equal and changed spans."""
    i = j = 0
    for old, new, size in _join_matches(_matches(old_lines, new_lines)):
        if i < old or j < new:
            yield LineSpan(False, i, old, j, new)
        i, j = old + size, new + size
        yield LineSpan(True, old, i, new, j)
    if i < len(old_lines) or j < len(new_lines):
        yield LineSpan(False, i, len(old_lines), j, len(new_lines))


def _join_matches(matches: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    old = new = size = 0
    for i, j, count in sorted(matches):
        if (i, j) == (old + size, new + size):
            size += count
            continue
        if size:
            yield old, new, size
        old, new, size = i, j, count
    if size:
        yield old, new, size


def _matches(old_lines: Sequence[str], new_lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield (old line, new line, count) of runs of equal lines, in any order."""
    if _is_cheap(old_lines, new_lines):
        yield from _matching_runs(old_lines, new_lines, 0, 0)
        return
    ranges = [(0, len(old_lines), 0, len(new_lines), False)]
    while ranges:
        i1, i2, j1, j2, is_final = ranges.pop()
        start = _common_prefix_count(zip(old_lines[i1:i2], new_lines[j1:j2], strict=False))
        if start:
            yield i1, j1, start
        i1, j1 = i1 + start, j1 + start
        end = _common_prefix_count(
            zip(reversed(old_lines[i1:i2]), reversed(new_lines[j1:j2]), strict=False)
        )
        i2, j2 = i2 - end, j2 - end
        if end:
            yield i2, j2, end
        old, new = old_lines[i1:i2], new_lines[j1:j2]
        if set(old).isdisjoint(new):
            continue
        if _is_cheap(old, new):
            yield from _matching_runs(old, new, i1, j1)
            continue
        if is_final:
            continue
        anchors = _longest_increasing(_unique_lines(old), _unique_lines(new))
        is_final = not anchors
        anchors = anchors or _longest_increasing(_number_lines(old), _number_lines(new))
        edges = [(-1, -1), *anchors, (len(old), len(new))]
        for i, j in anchors:
            yield i1 + i, j1 + j, 1
        for (i, j), (next_i, next_j) in pairwise(edges):
            if i + 1 < next_i and j + 1 < next_j:
                ranges.append((i1 + i + 1, i1 + next_i, j1 + j + 1, j1 + next_j, is_final))


def _is_cheap(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) + len(new) > _EXACT_LINES:
        return False
    counts = Counter(new)
    return sum(counts[line] for line in old) <= _EXACT_PAIRS


def _matching_runs(
    old: Sequence[str], new: Sequence[str], first_old: int, first_new: int
) -> Iterator[tuple[int, int, int]]:
    for i, j, size in matcher_of(old, new).get_matching_blocks():
        if size:
            yield first_old + i, first_new + j, size


def _common_prefix_count(pairs: Iterable[tuple[str, str]]) -> int:
    """Return the number of equal pairs at the start."""
    count = 0
    for one, other in pairs:
        if one != other:
            break
        count += 1
    return count


def _unique_lines(lines: Sequence[str]) -> dict[str, int]:
    """Return the positions of the lines that occur exactly once."""
    counts = Counter(lines)
    return {line: index for index, line in enumerate(lines) if counts[line] == 1}


def _number_lines(lines: Sequence[str]) -> dict[tuple[str, int], int]:
    """Return positions by line and number of its occurrence, counted from 0."""
    counts: defaultdict[str, int] = defaultdict(int)
    places: dict[tuple[str, int], int] = {}
    for index, line in enumerate(lines):
        places[line, counts[line]] = index
        counts[line] += 1
    return places


def _longest_increasing(
    old: Mapping[_Name, int], new: Mapping[_Name, int]
) -> list[tuple[int, int]]:
    """Return the longest sequence of common positions that increases in both.

    `old` is in the order of its positions.
    """
    pairs = [(place, new[name]) for name, place in old.items() if name in new]
    ends: list[int] = []
    """For each length: the smallest new position at which a sequence of that length can end."""
    ending: list[int] = []
    """For each length: the index of that pair."""
    previous: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous.append(ending[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            ending.append(number)
        else:
            ends[length] = place
            ending[length] = number
    chain: list[tuple[int, int]] = []
    number = ending[-1] if ending else -1
    while number >= 0:
        chain.append(pairs[number])
        number = previous[number]
    return chain[::-1]
