"""The status line command on the screen: what it is told, and how what it prints looks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent.display import DiffDisplay
from agent.events import Complete, RequestStart, TextDelta, ToolResult, Usage
from agent.settings.load import load_settings
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tests.tui.test_app_keys import send, settled, text_of
from themes.theme import Role
from tui.status_facts import StatusCounts

T = "t1"


def test_times_and_lines_are_counted() -> None:
    now = [0.0]
    counts = StatusCounts(lambda: now[0])
    counts.title = "slugs"
    counts.observe(RequestStart(T, 1, "m"))
    now[0] = 2.5
    counts.observe(Complete(T, "m", "tool_use", Usage()))
    change = DiffDisplay("a.py", "x\ny\n", "x\nz\nw\n")
    counts.observe(ToolResult(T, "u", "Edit", "", False, 0.1, "ok", "Edit a.py", change))
    counts.observe(ToolResult(T, "u", "Edit", "", True, 0.1, "denied", "Edit a.py", change))
    now[0] = 4.0
    facts = counts.facts(columns=100, vim_mode="NORMAL")
    assert (facts.elapsed_s, facts.waited_s) == (4.0, 2.5)
    assert (facts.lines_added, facts.lines_removed) == (2, 1)
    assert (facts.title, facts.prompt_id, facts.vim_mode) == ("slugs", T, "NORMAL")
    counts.start_over()
    assert counts.facts(columns=1).lines_added == 0


async def test_a_command_is_told_and_its_colours_are_the_themes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    (home / ".agent").mkdir(parents=True)
    command = f"cat > {tmp_path}/given.json; printf '\\033[32mall green\\033[0m plain'"
    line = {"type": "command", "command": command, "padding": 1}
    (home / ".agent" / "settings.json").write_text(json.dumps({"statusLine": line}))
    conversation = RecordedConversation([[TextDelta(T, "m", 0, "hi")]])
    conversation.launch_dir = conversation.cwd = tmp_path
    settings = load_settings(launch_dir=tmp_path, home=home, agent_home=home / ".agent")
    center = center_for(conversation)
    conversation.commands = replace(
        center, context=replace(center.context, settings=lambda: settings, home=home)
    )
    app = make_app(conversation)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        app.own_status.plan(0.01)
        while "all green" not in text_of(app.status_line):
            await pilot.pause()
        (own,) = app.own_status.lines
        assert [(text, ink.role) for text, ink in own] == [
            (" ", Role.MUTED),
            ("all green", Role.SUCCESS),
            (" plain", Role.MUTED),
        ]
        await send(pilot, "/rename slugs")
    given = json.loads((tmp_path / "given.json").read_text())
    assert given["model"]["id"] == conversation.model
    assert given["cost"].keys() >= {"total_duration_ms", "total_lines_added"}
    assert given["workspace"]["current_dir"] == str(tmp_path)
