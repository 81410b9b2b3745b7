"""A tool call that needs a permission decision."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class PermissionRequest(Struct, frozen=True):
    """A validated tool call, before it is decided."""

    tool: str
    """Name as the model called it, e.g. `Bash` or `mcp__github__create_issue`."""
    tool_input: Mapping[str, object]
    """The input exactly as it would be executed."""
    request_id: str = ""
    tool_use_id: str = ""
    is_trusted_read: bool = False
    """Whether it is a tool of an MCP server that the user trusts to report what only reads, or a
    skill without rules and hooks of its own."""
    wants_user: bool = False
    """Whether the MCP server requires that a user sees each call of its tool."""
    agent_id: str | None = None
    """None is the main conversation."""
    agent_type: str | None = None
    classifier_context: tuple[str, ...] = ()
    """Extra text from hooks, for the model classifier alone; it never grants anything."""
