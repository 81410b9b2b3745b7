"""Parses a line such as `Bash(rm -rf out)` or `SessionStart resume` as a payload, for dry runs."""

from __future__ import annotations

from typing import Final

from hooks.cli.payload_from_json import JsonPayload, PayloadError, payload_from_json
from hooks.events.capabilities import EFFECTS
from permissions.base.text.late_pattern import compile_late
from permissions.lint.examples import call_of

DEFAULT_EVENT: Final = "PreToolUse"
TOOL_NAME: Final = compile_late(r"[A-Z][A-Za-z]*|mcp__[\w-]+")
"""A tool without an input; any other word is a shell command."""


def payload_of(text: str, *, event: str = DEFAULT_EVENT) -> JsonPayload:
    """Read `[EVENT] [Tool(value) | matched value]` as the payload that hooks would receive.

    Args:
        text: as typed; the first word may be an event's name.
        event: the event if the text names none.

    Raises:
        PayloadError: a tool event is named without a call.
    """
    first, _, rest = text.strip().partition(" ")
    if first in EFFECTS:
        event, value = first, rest.strip()
    else:
        value = text.strip()
    rules = EFFECTS[event]
    if rules.is_tool_event:
        if not value:
            raise PayloadError(f"{event} is about a call: name one, such as Bash(git push)")
        is_tool = TOOL_NAME.fullmatch(value) is not None
        tool, tool_input = (value, {}) if is_tool else call_of("Bash", value)
        return payload_from_json(event, {"tool_name": tool, "tool_input": tool_input})
    field = rules.matcher_field
    return payload_from_json(event, {field: value} if field is not None and value else {})
