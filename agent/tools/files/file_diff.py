"""How a change of a file is shown to users."""

from __future__ import annotations

from typing import Final

from agent.display import DiffDisplay, Display, TextDisplay

MAX_DIFF_CHARS: Final = 2_000_000
"""Old and new text together; a longer diff is unreadable, and would take seconds to make."""


def file_diff(name: str, old: str, new: str, *, is_new: bool) -> Display:
    """Return the change as a diff, or as its size and beginning if it is too large for one."""
    if len(old) + len(new) <= MAX_DIFF_CHARS:
        return DiffDisplay(name, old, new, is_new=is_new)
    old_size = "a new file" if is_new else f"{len(old):,} characters before"
    return TextDisplay(
        f"{name}: too large to show as a diff ({old_size}, {len(new):,} after). "
        f"The new content starts with:\n{new[:2_000]}"
    )
