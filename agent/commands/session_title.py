"""A session's name as a user types it after a command."""

from __future__ import annotations

from typing import Final

from permissions.base.text.sanitize import sanitize

MAX_CHARS: Final = 200


def title_of(arguments: str) -> str:
    """Return the name on one line, without control characters; empty without one."""
    return " ".join(sanitize(arguments).split())[:MAX_CHARS]
