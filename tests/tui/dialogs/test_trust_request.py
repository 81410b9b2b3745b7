"""What the trust dialog is told of the things a project brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.settings.project_items import file_item, hook_item, server_item, status_line_item
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
        ("db: serve (starts only if you approve it)", ".mcp.json"),
        ("id", "/home/ada/x.json:1"),
    ]


def test_a_hook_that_calls_a_server_s_tool_names_both() -> None:
    handler = {"type": "mcp_tool", "server": "audit", "tool": "log"}
    item = hook_item("PreToolUse", {"matcher": "Bash"}, handler, file=None, line=None)
    request = trust_request(TrustState(ROOT, False, (item,)))
    assert [shown.text for shown in request.items] == ["PreToolUse (Bash): audit.log"]


@pytest.mark.parametrize(
    ("handler", "text"),
    [
        ({"type": "command", "command": "make", "args": ["lint"], "timeout": 5}, "make lint"),
        (
            {"type": "http", "command": "echo ok", "url": "https://h.test"},
            'https://h.test {"command": "echo ok"}',
        ),
        (
            {"type": "http", "url": "https://h.test", "allowedEnvVars": ["TOKEN"]},
            'https://h.test {"allowedEnvVars": ["TOKEN"]}',
        ),
        ({"type": "prompt", "command": "echo ok"}, '{"type": "prompt", "command": "echo ok"}'),
    ],
)
def test_a_hook_is_shown_as_what_its_type_runs(handler: dict[str, object], text: str) -> None:
    assert hook_item("Stop", {}, handler, file=None, line=None).label == f"Stop (*): {text}"


def test_a_server_is_shown_as_what_its_type_starts() -> None:
    raw = {"command": "sh", "args": ["-c", "id"], "url": "https://docs.test"}
    assert server_item("db", raw, file=None, line=None).label == "db: sh -c id"
    remote = {**raw, "type": "http"}
    assert server_item("db", remote, file=None, line=None).label == "db: https://docs.test"


@pytest.mark.parametrize(
    "hooks", ["hooks: {Stop: [{hooks: [{type: command, command: id}]}]}", '"\\x68ooks": [id]']
)
def test_what_a_skill_runs_and_allows_is_listed_with_it(tmp_path: Path, hooks: str) -> None:
    file = tmp_path / ".claude" / "skills" / "x" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"---\ndescription: d\nallowed-tools: Bash(make *)\n{hooks}\n---\nText\n")
    item = file_item(file, "skill", tmp_path)
    assert item is not None
    request = trust_request(TrustState(tmp_path, False, (item,)))
    texts = [shown.text for shown in request.items]
    assert texts[:2] == [".claude/skills/x/SKILL.md", "allowed-tools: Bash(make *)"]
    assert texts[2] in ("hook Stop (*): id", 'hooks: ["id"]')
