"""The palette, and how much is shown of each tool's calls."""

from __future__ import annotations

import json
from pathlib import Path

from agent.events import ToolDispatch, ToolResult
from tests.tui.app.test_app_keys import T, send, settled, text_of, transcript_of
from tests.tui.recorded import RecordedConversation, Step, center_for, make_app

OUTPUT = "\n".join(f"row {number}" for number in range(20))
CALLS: list[Step] = [
    ToolDispatch(T, "u1", "Bash", {}, "Bash seq"),
    ToolResult(T, "u1", "Bash", OUTPUT, False, 0.1, "ok", "Bash seq"),
    ToolDispatch(T, "u2", "WebFetch", {}, "WebFetch x"),
    ToolResult(T, "u2", "WebFetch", "failed", True, 0.1, "failed", "WebFetch x"),
]


async def test_the_palette_finds_commands_and_actions_and_does_them() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await settled(pilot)
        await pilot.press(*"compact")
        assert "❯ /compact" in text_of(app.parts.dialogs)
        await pilot.press("escape", *"stash")
        assert "ctrl+s" in text_of(app.parts.dialogs)
        await pilot.press("escape", "escape")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        await pilot.press("ctrl+p")
        await settled(pilot)
        await pilot.press(*"search the transcript", "enter")
        await settled(pilot)
        assert app.parts.keyboard.reading.is_open


async def test_a_command_with_arguments_is_put_into_the_prompt() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+p")
        await settled(pilot)
        await pilot.press(*"add-dir", "enter")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "/add-dir "


async def test_levels_are_seen_at_once_and_kept(tmp_path: Path) -> None:
    conversation = RecordedConversation([CALLS])
    conversation.commands = center_for(conversation, tmp_path)
    app = make_app(conversation)
    async with app.run_test(size=(80, 40)) as pilot:
        await send(pilot, "go")
        assert "row 1" in transcript_of(app)
        app.parts.workspace.agent_home = tmp_path / ".agent"
        await pilot.press("ctrl+o", "d")
        await settled(pilot)
        assert "◂ short ▸" in text_of(app.parts.dialogs)
        await pilot.press("left")
        assert "row 1" not in transcript_of(app)
        assert "Bash seq" in transcript_of(app)
        await pilot.press("right", "right")
        assert "row 10" in transcript_of(app)
        await pilot.press("enter")
        await settled(pilot)
        await app.workers.wait_for_complete()
        kept = json.loads((tmp_path / ".agent" / "settings.json").read_text())
        assert kept == {"toolDetail": {"Bash": "full"}}


async def test_what_failed_is_never_only_a_line() -> None:
    app = make_app(RecordedConversation([CALLS]))
    async with app.run_test(size=(80, 40)) as pilot:
        await send(pilot, "go")
        app.parts.transcript.set_levels({"Bash": "line", "WebFetch": "line"})
        assert "row 1" not in transcript_of(app)
        assert "failed" in transcript_of(app)


async def test_escape_puts_the_levels_from_before_back() -> None:
    app = make_app(RecordedConversation([CALLS]))
    async with app.run_test(size=(80, 40)) as pilot:
        await send(pilot, "go")
        await pilot.press("ctrl+o", "d")
        await settled(pilot)
        await pilot.press("left", "escape")
        await settled(pilot)
        assert app.parts.transcript.viewport.levels == {}


async def test_the_keys_are_shown_and_the_next_one_counts() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        await pilot.press("?")
        await settled(pilot)
        assert "shift+tab" in text_of(app.parts.dialogs)
        await pilot.press("h")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        assert app.parts.composer.buffer.text == "h"
        await pilot.press("?")
        assert app.parts.composer.buffer.text == "h?"
        await pilot.press("ctrl+u", "?")
        await settled(pilot)
        await pilot.press("?")
        await settled(pilot)
        assert app.parts.dialogs.open_count == 0
        assert app.parts.composer.buffer.is_empty
