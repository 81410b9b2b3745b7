"""Converts display data of calls to JSON and back: denials and file changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent.display import DiffDisplay, Display
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType

CONTEXT_LINES: Final = 3
MAX_CHARS: Final = 60_000
"""Most characters of a change; larger ones are shown as text after a resume."""


def denial_to_json(decision: Decision) -> dict[str, object]:
    """Return a denial as JSON, for the call's card."""
    return {
        "source": str(decision.source),
        "reason_type": str(decision.reason_type),
        "reason": str(decision.reason),
        "message": decision.message,
        "feedback": decision.feedback,
    }


def denial_from_json(data: Mapping[str, object] | None) -> Decision | None:
    """Return the decision without its trace; None if invalid or from a later version."""
    if not isinstance(data, Mapping):
        return None
    message, feedback = data.get("message"), data.get("feedback")
    if not isinstance(message, str) or not isinstance(feedback, str | None):
        return None
    try:
        return Decision(
            Behavior.DENY,
            DecisionSource(str(data.get("source"))),
            ReasonType(str(data.get("reason_type"))),
            Reason(str(data.get("reason"))),
            message,
            feedback=feedback,
        )
    except ValueError:
        return None


def diff_to_json(display: Display | None) -> dict[str, object] | None:
    """Return a file change as JSON; None for other displays, or if it is too large.

    It contains only changed lines with some context, because whole texts would add the file's
    size to the transcript with each edit.
    """
    if not isinstance(display, DiffDisplay) or display.old == display.new:
        return None
    old, new = display.old.split("\n"), display.new.split("\n")
    same = _equal_lines(old, new)
    tail = _equal_lines(old[same:][::-1], new[same:][::-1])
    first = max(0, same - CONTEXT_LINES)
    skip_count = max(0, tail - CONTEXT_LINES)
    texts = ["\n".join(lines[first : len(lines) - skip_count]) for lines in (old, new)]
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
    """Return the change; None if there is none, or if it is invalid."""
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


def _equal_lines(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many lines at the start are equal."""
    for count, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return count
    return min(len(one), len(other))
