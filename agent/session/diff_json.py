"""A change as the transcript keeps it: the lines that differ with a few around them.

The whole texts would double a file with each edit; a resume only shows what changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.display import DiffDisplay, Display

CONTEXT_LINES: Final = 3
MAX_CHARS: Final = 60_000
"""Larger changes are shown as text after a resume."""


def diff_to_json(display: Display | None) -> dict[str, Any] | None:
    """Return a change for the transcript; None for anything else, and for one too large."""
    if not isinstance(display, DiffDisplay) or display.old == display.new:
        return None
    old, new = display.old.split("\n"), display.new.split("\n")
    same = _same(old, new)
    tail = _same(old[same:][::-1], new[same:][::-1])
    first = max(0, same - CONTEXT_LINES)
    skipped = max(0, tail - CONTEXT_LINES)
    texts = ["\n".join(lines[first : len(lines) - skipped]) for lines in (old, new)]
    if sum(map(len, texts)) > MAX_CHARS:
        return None
    return {
        "path": display.path,
        "old": texts[0],
        "new": texts[1],
        "is_new": display.is_new,
        "first_line": display.first_line + first,
    }


def diff_from_json(data: Mapping[str, Any] | None) -> DiffDisplay | None:
    """Return the change; None where there is none, or what is there is none."""
    if data is None:
        return None
    try:
        path, old, new = (data[name] for name in ("path", "old", "new"))
        first_line = int(data["first_line"])
    except (KeyError, TypeError, ValueError):
        return None
    if not all(isinstance(text, str) for text in (path, old, new)) or first_line < 1:
        return None
    return DiffDisplay(path, old, new, is_new=data.get("is_new") is True, first_line=first_line)


def _same(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines are the same from the start on."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
