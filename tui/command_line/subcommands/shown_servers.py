"""Formats servers for `agent-tui mcp`: as a line, in detail, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agent.mcp.configuration.configured_servers import ConfiguredServer, Standing
from agent.mcp.configuration.shown_entry import shown_address, shown_entry
from agent.mcp.server_state import ServerView
from tui.command_line.subcommands.server_checks import STATUS as CONNECTION

STATUS: Final[Mapping[Standing, str]] = {
    "may_start": "Configured",
    "needs_trust": "⏸ Pending approval (the directory is not trusted)",
    "needs_approval": "⏸ Pending approval",
    "rejected": "✘ Rejected",
    "blocked": "✘ Blocked",
    "disabled": "⊘ Disabled",
    "not_configured": "✘ Not configured",
    "same_endpoint": "⊘ Hidden",
}


def line_of(one: ConfiguredServer, views: Mapping[str, ServerView]) -> str:
    """Return a server as one line, with its connection's state if there is a view."""
    view = views.get(one.definition.name)
    status = state_text(view) if view is not None else status_of(one)
    kind = "" if one.definition.transport == "stdio" else f" ({one.definition.transport.upper()})"
    return f"{shown_address(one.definition)}{kind} - {status}"


def status_of(one: ConfiguredServer) -> str:
    """Return text about whether a server may start."""
    detail = f": {one.reason}" if one.standing not in ("may_start", "needs_trust") else ""
    return f"{STATUS[one.standing]}{detail}"


def state_text(view: ServerView) -> str:
    """Return text about the state of a connection."""
    return CONNECTION[view.state] + (f": {view.reason}" if view.reason else "")


def server_json(one: ConfiguredServer, view: ServerView | None = None) -> dict[str, object]:
    """Return a server as a JSON object; with a view, including what the server offers."""
    definition = one.definition
    return {
        "name": definition.name,
        "scope": definition.scope,
        "transport": definition.transport,
        "standing": one.standing,
        "reason": one.reason,
        "file": str(definition.file) if definition.file else None,
        "line": definition.line,
        "entry": shown_entry(definition),
        **(
            {
                "state": str(view.state),
                "tools": [tool.full_name for tool in view.tools],
                "detail": view.detail,
                **({"reason": view.reason} if view.reason else {}),
            }
            if view is not None
            else {}
        ),
    }


def debug_lines(view: ServerView) -> list[str]:
    """Return lines with everything that a server offers, or why it is not connected."""
    offer = view.offer
    return [
        f"{view.name}: {state_text(view)}",
        *(
            [f"  {view.server_name} {view.server_version}, {view.protocol_version}"]
            if view.server_name
            else []
        ),
        *(f"  tool {tool.name}: {tool.description.partition(chr(10))[0]}" for tool in view.tools),
        *(f"  prompt {prompt.name}" for prompt in offer.prompts),
        *(f"  resource {resource.uri}" for resource in offer.resources),
        *(f"  ! {problem}" for problem in offer.problems),
        *(f"  | {line}" for line in view.detail.splitlines()[-20:]),
    ]
