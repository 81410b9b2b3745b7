"""`/hooks`: what is shown of a handler, and the question whether it would fire."""

from __future__ import annotations

from pathlib import Path

from hooks.cli.dry_run import payload_of
from hooks.config.config import HookLayer, build_config
from hooks.config.spec import HookSource
from tests.tui.app.test_app_keys import settled, text_of, until
from tests.tui.panels.test_panels import opened, shown
from tests.tui.recorded import RecordedConversation, make_app
from tui.app.app import AgentApp
from tui.panels.line_entry import LineEntry

SECTION = {
    "PreToolUse": [
        {
            "matcher": "Bash",
            "hooks": [
                {"type": "command", "command": "exit 2", "if": "Bash(rm *)", "timeout": 5},
                {"type": "command", "command": "no-such-guard", "onFailure": "block"},
            ],
        }
    ],
    "Stop": [{"hooks": [{"type": "prompt", "prompt": "Are we done?"}]}],
}


def with_hooks(app: AgentApp) -> None:
    """Configure the section as the user's."""
    assert app.parts.conversations.commands is not None
    runner = app.parts.conversations.commands.context.hooks
    layer = HookLayer(HookSource.USER, {"hooks": SECTION}, file="/home/ada/.agent/settings.json")
    runner.replace_config(build_config([layer]))


async def test_every_handler_is_shown_with_its_type_its_file_and_its_health() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.parts.conversations.commands is not None)
        with_hooks(app)
        text = await opened(pilot, "/hooks")
        assert "PreToolUse 2 · Stop 1" in text
        assert "[command] exit 2" in text
        assert "[prompt] Are we done?" in text
        assert "✗ PreToolUse (Bash)" in text
        assert "from user /home/ada/.agent/settings.json, if Bash(rm *), at most 5 s" in text
        assert "has not fired yet" in text
        await pilot.press("down")
        await settled(pilot)
        text = text_of(app.parts.dialogs)
        assert "its failure blocks" in text
        assert "no-such-guard is not on the PATH of hooks" in text


async def test_a_handler_tells_what_it_did(tmp_path: Path) -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.parts.conversations.commands is not None)
        with_hooks(app)
        assert app.parts.conversations.commands is not None
        runner = app.parts.conversations.commands.context.hooks
        runner._session.cwd = tmp_path
        await runner.run(payload_of("Bash(rm x)"))
        text = await opened(pilot, "/hooks")
        assert "fired once, the last run blocked in " in text


async def test_one_asks_whether_a_call_would_fire() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.parts.conversations.commands is not None)
        with_hooks(app)
        await opened(pilot, "/hooks")
        await pilot.press("tab")
        await settled(pilot)
        app.parts.dialogs._guard._guarded_until_s = 0.0
        for key in ("l", "s", "enter"):
            await pilot.press(key)
        await settled(pilot)
        text = text_of(app.parts.dialogs)
        assert "ls would fire 1 of 2 (✓)" in text
        assert "would not fire: `if` Bash(rm *) does not apply" in text
        assert "✓ PreToolUse (Bash)" in text


async def test_the_question_may_come_with_the_command() -> None:
    app = make_app()
    async with app.run_test(size=(100, 30)) as pilot:
        await until(pilot, lambda: app.parts.conversations.commands is not None)
        with_hooks(app)
        text = await opened(pilot, "/hooks Stop")
        assert "Stop would fire 1 of 1 (✓)" in text


async def test_a_line_is_typed_and_taken_back() -> None:
    entry = LineEntry("T", "Q")
    for key in "abc":
        entry.press(key, key, None)
    entry.press("backspace", "", None)
    entry.paste("x\ny")
    assert "abx y" in shown(entry.view(40))
    assert all(len(line) < 20 for line in shown(entry.view(20)).splitlines())
    entry.press("enter", "", None)
    assert await entry.wait() == "abx y"


async def test_a_long_address_is_a_link_that_tab_copies_whole() -> None:
    address = "https://example.org/authorize?state=" + "x" * 60
    copied: list[str] = []
    entry = LineEntry("Sign in", f"Open\n{address}\nnow.", address=address, copy=copied.append)
    runs = [run for line in entry.view(40).body for run in line.runs]
    assert "".join(text for text, ink in runs if ink.link == address) == address
    entry.press("tab", "\t", None)
    assert copied == [address]
    assert not entry.is_done


async def test_a_line_is_edited_anywhere_with_the_keys_of_the_prompt() -> None:
    entry = LineEntry("T", "Q")
    entry.paste("a long line with many words in it")
    for key in ("ctrl+a", "delete", "ctrl+right", "ctrl+w"):
        entry.press(key, "", None)
    view = entry.view(20)
    assert view.footer[0].row.text == " ❯   line with man…"
    assert view.footer[0].caret_cells == 4
    entry.press("ctrl+e", "", None)
    view = entry.view(20)
    assert (view.footer[0].row.text, view.footer[0].caret_cells) == (" ❯ y words in it", 16)
    entry.press("alt+b", "", None)
    entry.press("X", "X", None)
    entry.press("enter", "", None)
    assert await entry.wait() == "line with many words in Xit"


async def test_a_background_hook_wakes_an_idle_screen() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        conversation = app.parts.conversations.current
        assert isinstance(conversation, RecordedConversation)
        conversation.hook_signals.is_woken = True
        conversation.on_wake()
        await settled(pilot)
        assert conversation.received == ["(woken)"]
        assert not app.parts.runner.is_running


async def test_a_hook_that_wakes_during_a_compaction_is_received_after_it() -> None:
    app = make_app()
    async with app.run_test(size=(80, 30)) as pilot:
        await settled(pilot)
        conversation = app.parts.conversations.current
        assert isinstance(conversation, RecordedConversation)
        app.parts.runner.run_events(conversation.controls.compact())
        conversation.hook_signals.is_woken = True
        conversation.on_wake()
        assert conversation.received == []
        await settled(pilot)
        assert conversation.received == ["(woken)"]
