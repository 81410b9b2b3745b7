"""Formats how long ago something was."""

from __future__ import annotations

from datetime import UTC, datetime


def time_ago(when: datetime) -> str:
    """Return `just now`, `5 min ago`, `3 h ago` or `2 d ago`."""
    seconds = max(0.0, (datetime.now(UTC) - when).total_seconds())
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {name} ago"
    return "just now"
