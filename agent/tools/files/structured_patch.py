"""The hunks of a change, as hooks and programs know them from Claude Code."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import Final

_CONTEXT: Final = 3
_MAX_PAIRS: Final = 4_000_000
"""Lines before times lines after that are compared; a larger change is one hunk."""

_Range = tuple[int, int, int, int]


def structured_patch(old: str, new: str) -> list[dict[str, object]]:
    """Return the hunks, each with three lines of context; none for a new file."""
    if not old:
        return []
    before, after = old.splitlines(), new.splitlines()
    return [
        {
            "oldStart": group[0][0] + 1,
            "oldLines": group[-1][1] - group[0][0],
            "newStart": group[0][2] + 1,
            "newLines": group[-1][3] - group[0][2],
            "lines": _lines(group, before, after),
        }
        for group in _groups(before, after)
    ]


def _lines(group: list[_Range], before: list[str], after: list[str]) -> list[str]:
    lines: list[str] = []
    for old_start, old_end, new_start, new_end in group:
        if before[old_start:old_end] == after[new_start:new_end]:
            lines += [f" {line}" for line in before[old_start:old_end]]
        else:
            lines += [f"-{line}" for line in before[old_start:old_end]]
            lines += [f"+{line}" for line in after[new_start:new_end]]
    return lines


def _groups(before: list[str], after: list[str]) -> list[list[_Range]]:
    """Return the changed ranges with the equal ones around them, those of a hunk together."""
    start = sum(1 for _ in takewhile(_is_pair, zip(before, after, strict=False)))
    most = min(len(before), len(after)) - start
    backwards = zip(reversed(before), reversed(after), strict=False)
    end = min(most, sum(1 for _ in takewhile(_is_pair, backwards)))
    old_end, new_end = len(before) - end, len(after) - end
    if (old_end - start) * (new_end - start) > _MAX_PAIRS:
        lead, trail = min(start, _CONTEXT), min(end, _CONTEXT)
        return [
            [
                (start - lead, start, start - lead, start),
                (start, old_end, start, new_end),
                (old_end, old_end + trail, new_end, new_end + trail),
            ]
        ]
    # What is equal at both ends counts for the context alone.
    first, last = max(0, start - _CONTEXT), max(0, end - _CONTEXT)
    matcher = difflib.SequenceMatcher(
        None, before[first : len(before) - last], after[first : len(after) - last], autojunk=False
    )
    return [
        [(a + first, b + first, c + first, d + first) for _, a, b, c, d in group]
        for group in matcher.get_grouped_opcodes(_CONTEXT)
        if any(tag != "equal" for tag, *_ in group)
    ]


def _is_pair(lines: tuple[str, str]) -> bool:
    return lines[0] == lines[1]
