"""The input of a file tool after a user edited the proposed content. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from typing import Final

MAX_NOTE_LINES: Final = 200
"""Lines of the diff that the model gets; of the others only the number."""


def edited_input(
    tool: str, tool_input: Mapping[str, object], old: str, new: str
) -> dict[str, object] | None:
    """Return the input with which the file becomes `new`.

    `old` is the current content; both texts have LF line endings. None if nothing would change, or
    if the input of the tool cannot express it.
    """
    if old == new:
        return None
    match tool:
        case "Write":
            return {**tool_input, "content": new}
        case "Edit":
            return _edit_input(tool_input, old, new)
        case _:
            return None


def _edit_input(tool_input: Mapping[str, object], old: str, new: str) -> dict[str, object]:
    piece = str(tool_input.get("old_string", "")).replace("\r\n", "\n")
    if piece == "":
        return {**tool_input, "new_string": new}
    if old.count(piece) == 1:
        head, tail = old.split(piece)
        is_inside = new.startswith(head) and new.endswith(tail)
        if is_inside and len(new) >= len(head) + len(tail):
            return {**tool_input, "new_string": new[len(head) : len(new) - len(tail)]}
    # The user changed text outside the model's piece: replace the whole content.
    return {**tool_input, "old_string": old, "new_string": new, "replace_all": False}


def change_note(old_input: Mapping[str, object], new_input: Mapping[str, object]) -> str:
    """Return a note for the model about a user's changes to its input; empty without changes.

    Texts of several lines are shown as a diff, other values as they are now.
    """
    parts: list[str] = []
    for key in sorted({*old_input, *new_input}):
        old, new = old_input.get(key), new_input.get(key)
        if old == new:
            continue
        if isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
            parts.append(f"{key}, from your proposal to what ran:\n{_difference(old, new)}")
        else:
            parts.append(f"{key} is now: {new!r}" if key in new_input else f"{key} was left out")
    if not parts:
        return ""
    return (
        "The user changed this call before approving it; this is what ran, so do not assume "
        "your own version:\n" + "\n".join(parts)
    )


def _difference(old: str, new: str) -> str:
    lines = list(unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=2))[2:]
    hidden = len(lines) - MAX_NOTE_LINES
    if hidden > 0:
        lines = [*lines[:MAX_NOTE_LINES], f"[{hidden} more lines]"]
    return "\n".join(lines) if lines else "(only line endings differ)"
