"""Converts a call to the text that a user edits, and an edited text to a call. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from agent.display import DiffDisplay, Display

_FIELDS: Final = {
    "Bash": ("command", "command", "command.sh"),
    "Edit": ("new_string", "new text", ""),
    "Write": ("content", "content", ""),
    "NotebookEdit": ("new_source", "cell", "cell.py"),
    "Workflow": ("script", "script", "workflow.js"),
    "WebFetch": ("url", "address", "address.txt"),
}
"""By tool: the field to edit, its name for users, and a file name for editors."""


class NotACall(ValueError):
    """The text cannot be converted to a call; the message tells users why."""


class CallText(Struct, frozen=True):
    """The part of a call that users edit."""

    text: str
    what: str
    """Its name for users: `command`, `content`, …"""
    name: str
    """A file name from which an editor derives the language; may be empty."""


def call_text(tool: str, tool_input: Mapping[str, Any]) -> CallText:
    """Return the text to edit: the tool's main field, or else the whole input as JSON."""
    field, what, name = _FIELDS.get(tool, ("", "", ""))
    value = tool_input.get(field)
    if field and isinstance(value, str):
        return CallText(value, what, name)
    text = json.dumps(dict(tool_input), ensure_ascii=False, indent=2, default=str)
    return CallText(text, "input", "input.json")


def input_with(tool: str, tool_input: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the input with an edited text.

    Raises:
        NotACall: the text cannot be converted to an input.
    """
    field, what, _ = _FIELDS.get(tool, ("", "", ""))
    if field and isinstance(tool_input.get(field), str):
        if not text.strip() and tool not in {"Edit", "Write", "NotebookEdit"}:
            raise NotACall(f"The {what} is empty. To reject the call, go back and choose no.")
        # Rules about the original workflow must neither match nor be offered.
        same = {key: value for key, value in tool_input.items() if key != "workflow"}
        return {**(same if tool == "Workflow" else tool_input), field: text}
    try:
        edited_input = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NotACall(f"This is not valid JSON: {error}.") from error
    if not isinstance(edited_input, dict):
        raise NotACall("The input must be a JSON object: {…}.")
    return edited_input


def display_with(
    tool: str, tool_input: Mapping[str, Any], display: Display | None
) -> Display | None:
    """Return the change that an edited input makes to its file; None if unknown."""
    if not isinstance(display, DiffDisplay):
        return None
    old = display.old
    match (
        tool,
        tool_input.get("content"),
        tool_input.get("old_string"),
        tool_input.get("new_string"),
    ):
        case ["Write", str() as content, _, _]:
            return replace(display, new=_lf(content))
        case ["Edit", _, "", str() as new]:
            return replace(display, new=_lf(new))
        case ["Edit", _, str() as piece, str() as new] if _lf(piece) in old:
            count = -1 if tool_input.get("replace_all") else 1
            return replace(display, new=old.replace(_lf(piece), _lf(new), count))
        case _:
            return None


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")
