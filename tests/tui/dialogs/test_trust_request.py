"""What the trust dialog is told of the things a project brings."""

from __future__ import annotations

from pathlib import Path

from agent.settings.project_items import hook_item, server_item, status_line_item
from agent.settings.trust import TrustState
from tui.dialogs.trust_dialog import trust_request

ROOT = Path("/home/ada/slugs")


def test_places_are_relative_to_the_directory_and_what_is_not_used_is_reported() -> None:
    items = (
        status_line_item("date", file=ROOT / ".agent" / "settings.json", line=3),
        server_item("db", {"command": "serve"}, file=ROOT / ".mcp.json", line=None),
        status_line_item("id", file=Path("/home/ada/x.json"), line=1),
    )
    request = trust_request(TrustState(ROOT, False, items))
    assert [(item.text, item.file) for item in request.items] == [
        ("date", ".agent/settings.json:3"),
        ("db: serve (asked about before it starts)", ".mcp.json"),
        ("id", "/home/ada/x.json:1"),
    ]


def test_a_hook_that_calls_a_server_s_tool_names_both() -> None:
    handler = {"type": "mcp_tool", "server": "audit", "tool": "log"}
    item = hook_item("PreToolUse", {"matcher": "Bash"}, handler, file=None, line=None)
    request = trust_request(TrustState(ROOT, False, (item,)))
    assert [shown.text for shown in request.items] == ["PreToolUse (Bash): audit.log"]
