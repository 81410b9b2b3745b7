"""The hunks of a change, as hooks and programs know them from Claude Code."""

from __future__ import annotations

import difflib
from itertools import takewhile
from typing import Final

_CONTEXT: Final = 3
_MAX_PAIRS: Final = 4_000_000
"""Old lines times new lines that are compared; a larger change is one hunk."""

_Range = tuple[int, int, int, int]


def structured_patch(old: str, new: str) -> list[dict[str, object]]:
    """Return the hunks, each with three lines of context; none for a new file."""
    if not old:
        return []
    old_lines, new_lines = old.splitlines(), new.splitlines()
    return [
        {
            "oldStart": group[0][0] + 1,
            "oldLines": group[-1][1] - group[0][0],
            "newStart": group[0][2] + 1,
            "newLines": group[-1][3] - group[0][2],
            "lines": _lines(group, old_lines, new_lines),
        }
        for group in _groups(old_lines, new_lines)
    ]


def _lines(group: list[_Range], old_lines: list[str], new_lines: list[str]) -> list[str]:
    lines: list[str] = []
    for old_start, old_end, new_start, new_end in group:
        if old_lines[old_start:old_end] == new_lines[new_start:new_end]:
            lines += [f" {line}" for line in old_lines[old_start:old_end]]
        else:
            lines += [f"-{line}" for line in old_lines[old_start:old_end]]
            lines += [f"+{line}" for line in new_lines[new_start:new_end]]
    return lines


def _groups(old_lines: list[str], new_lines: list[str]) -> list[list[_Range]]:
    """Return the changed ranges with the equal ones around them, those of a hunk together."""
    start = sum(1 for _ in takewhile(_is_pair, zip(old_lines, new_lines, strict=False)))
    most = min(len(old_lines), len(new_lines)) - start
    backwards = zip(reversed(old_lines), reversed(new_lines), strict=False)
    end = min(most, sum(1 for _ in takewhile(_is_pair, backwards)))
    old_end, new_end = len(old_lines) - end, len(new_lines) - end
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
        None,
        old_lines[first : len(old_lines) - last],
        new_lines[first : len(new_lines) - last],
        autojunk=False,
    )
    return [
        [(a + first, b + first, c + first, d + first) for _, a, b, c, d in group]
        for group in matcher.get_grouped_opcodes(_CONTEXT)
        if any(tag != "equal" for tag, *_ in group)
    ]


def _is_pair(lines: tuple[str, str]) -> bool:
    return lines[0] == lines[1]
