"""The status line command on the screen: what it is told, and how what it prints looks."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from msgspec.structs import replace

from agent.display import DiffDisplay
from agent.events import Complete, RequestStart, TextDelta, ToolResult, Usage
from agent.settings.load import load_settings
from tests.tui.app.test_app_keys import send, settled, text_of
from tests.tui.recorded import RecordedConversation, center_for, make_app
from themes.theme import Role
from tui.status_line.status_counts import StatusCounts

T = "t1"
SHOW = (
    "import json, sys; d = json.load(sys.stdin); "
    'print("{columns}x{rows} {permission_mode}".format(**d), d["thinking"]["enabled"])'
)


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
    counts.observe(ToolResult(T, "u", "Edit", "", False, 0.1, "ok", "Edit a.py", change))
    later = counts.facts(columns=100)
    assert (later.lines_added, later.lines_removed) == (4, 2), "each change counts once"
    counts.start_over()
    assert counts.facts(columns=1).lines_added == 0


def with_status_line(tmp_path: Path, command: str) -> RecordedConversation:
    """A conversation of a user who has set this command."""
    home = tmp_path / "home"
    (home / ".agent").mkdir(parents=True)
    line = {"type": "command", "command": command, "padding": 1}
    (home / ".agent" / "settings.json").write_text(json.dumps({"statusLine": line}))
    conversation = RecordedConversation([[TextDelta(T, "m", 0, "hi")]])
    conversation.launch_dir = conversation.cwd = tmp_path
    settings = load_settings(launch_dir=tmp_path, home=home, agent_home=home / ".agent")
    command_service = center_for(conversation)
    conversation.commands = replace(
        command_service,
        context=replace(command_service.context, settings=lambda: settings, home=home),
    )
    return conversation


async def test_it_runs_again_when_a_value_it_receives_changes(tmp_path: Path) -> None:
    # Started quickly: a command has five seconds, also on a busy machine.
    python = f"{shlex.quote(sys.executable)} -I -S"
    conversation = with_status_line(tmp_path, f"{python} -c {shlex.quote(SHOW)}")
    app = make_app(conversation)
    async with app.run_test(size=(100, 24)) as pilot:

        async def shows(text: str) -> None:
            while text not in text_of(app.parts.status_line):
                await pilot.pause(0.02)

        await shows("100x24 default True")
        await pilot.resize_terminal(90, 30)
        await shows("90x30 default True")
        await pilot.press("shift+tab")
        await shows("90x30 acceptEdits True")
        await pilot.press("alt+t")
        await shows("90x30 acceptEdits False")


async def test_lines_stand_on_their_own_and_a_link_leads_on(tmp_path: Path) -> None:
    command = r"printf '\033]8;;https://x.org/\007here\033]8;;\007 %070d\nsecond\n' 1"
    app = make_app(with_status_line(tmp_path, command))
    async with app.run_test(size=(80, 24)) as pilot:
        while "second" not in text_of(app.parts.status_line):
            await pilot.pause(0.02)
        first, second, mode = text_of(app.parts.status_line).splitlines()
        assert first.split() == ["here", "0" * 69 + "1"]
        assert second.strip() == "second"
        assert mode.startswith(" ⏸ default mode")
        assert app.parts.user_status.lines[0][1][1].link == "https://x.org/"


async def test_a_command_is_reported_and_its_colors_are_the_themes(tmp_path: Path) -> None:
    command = f"cat > {tmp_path}/given.json; printf '\\033[32mall green\\033[0m plain'"
    conversation = with_status_line(tmp_path, command)
    app = make_app(conversation)
    async with app.run_test(size=(100, 24)) as pilot:
        await settled(pilot)
        app.parts.user_status.plan(0.01)
        while "all green" not in text_of(app.parts.status_line):
            await pilot.pause()
        (own,) = app.parts.user_status.lines
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
