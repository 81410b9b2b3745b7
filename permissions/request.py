"""One tool call that wants permission."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class PermissionRequest(Struct, frozen=True):
    """A validated tool call, before anybody was asked."""

    tool: str
    """Name as the model called it, e.g. `Bash` or `mcp__github__create_issue`."""
    tool_input: Mapping[str, object]
    """The input exactly as it would be executed."""
    request_id: str = ""
    tool_use_id: str = ""
    is_trusted_read: bool = False
    """The tool of an MCP server that the user trusts to say what only reads."""
    wants_user: bool = False
    """The tool of an MCP server says that a user must see each of its calls."""
    agent_id: str | None = None
    """None is the main conversation."""
    agent_type: str | None = None
    classifier_context: tuple[str, ...] = ()
    """Extra text from hooks, for the model classifier alone; it never grants anything."""
