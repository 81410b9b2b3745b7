"""Vim's keys in the real prompt: what reaches vim, what reaches the actions, what is shown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tui.app.test_app_keys import send, settled, text_of
from tests.tui.recorded import RecordedConversation, center_for, make_app, until_interrupted
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport


@pytest.fixture
def app(tmp_path: Path) -> AgentApp:
    (tmp_path / ".agent").mkdir()
    settings = {"editorMode": "vim", "vimInsertModeRemaps": {"jj": "<Esc>"}}
    (tmp_path / ".agent" / "settings.json").write_text(json.dumps(settings))
    conversation = RecordedConversation([[until_interrupted]])
    conversation.commands = center_for(conversation, tmp_path)
    return make_app(conversation)


async def started(pilot: Pilot[ExitReport], app: AgentApp) -> None:
    """Wait for the conversation: the settings come with it."""
    while app.parts.conversations.current is None:
        await settled(pilot)


async def test_letters_edit_in_normal_mode_and_type_in_insert_mode(app: AgentApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await pilot.press(*"one two", "escape", *"bcw", *"six")
        assert app.parts.composer.buffer.text == "one six"
        assert app.parts.composer.vim.mode == "INSERT"
        await pilot.press(*"jj")
        assert (app.parts.composer.vim.mode, app.parts.composer.buffer.text) == (
            "NORMAL",
            "one six",
        )
        assert " NORMAL " in text_of(app.parts.composer)
        await pilot.press("2", "d")
        assert " NORMAL 2d " in text_of(app.parts.composer)


async def test_enter_sends_and_the_next_prompt_begins_in_insert_mode(app: AgentApp) -> None:
    conversation = app.parts.conversations
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await pilot.press(*"go", "escape", "enter")
        await settled(pilot)
        assert conversation.current is not None
        assert app.parts.composer.vim.mode == "INSERT"
        # Escape leaves insert mode first; only then does it interrupt.
        assert "esc esc to interrupt" in text_of(app.parts.activity)
        await pilot.press("escape")
        await settled(pilot)
        assert app.parts.document.activity.is_working
        app.parts.lines.turn()
        assert "· esc to interrupt" in text_of(app.parts.activity)
        await pilot.press("escape")
        await settled(pilot)
        assert not app.parts.document.activity.is_working


async def test_j_k_and_slash_lead_into_the_history(app: AgentApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await send(pilot, "earlier")
        await pilot.press("escape", "escape")
        await settled(pilot)
        await pilot.press("k")
        assert app.parts.composer.buffer.text == "earlier"
        await pilot.press("j")
        assert app.parts.composer.buffer.is_empty
        await pilot.press("/", *"ear")
        assert "search history" in text_of(app.parts.composer)
        assert app.parts.composer.buffer.text == "earlier"


async def test_what_is_marked_is_shown(app: AgentApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await pilot.press(*"one two", "escape", *"0ve")
        rows = app.parts.composer.make_rows(60)
        marked = [text for text, ink in rows[1].runs if ink.ground is not None]
        assert marked == ["one"]
        assert " VISUAL " in text_of(app.parts.composer)


async def test_letters_without_a_meaning_type_nothing_in_normal_mode(app: AgentApp) -> None:
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await pilot.press(*"ab", "escape", "q", "z", "!", "@", "ä")
        assert app.parts.composer.buffer.text == "ab"


async def test_vims_keys_are_there_before_the_conversation_is(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(
        json.dumps({"editorMode": "vim", "vimInsertModeRemaps": {"jj": "<Esc>", "k": 1}})
    )
    app = make_app(RecordedConversation([]))
    app.parts.workspace.agent_home = tmp_path
    never = asyncio.Event()

    async def make(_ports: object) -> RecordedConversation:
        await never.wait()
        return RecordedConversation([])

    app.parts.conversations.make = make
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"abjj")
        assert (app.parts.composer.vim.mode, app.parts.composer.buffer.text) == ("NORMAL", "ab")


async def test_nothing_is_offered_while_nothing_is_typed(app: AgentApp) -> None:
    app.parts.history.extend_older(["/status", "/co"])
    async with app.run_test(size=(60, 20)) as pilot:
        await started(pilot, app)
        await pilot.press("escape", "k", "k")
        await settled(pilot)
        assert app.parts.composer.buffer.text == "/co"
        assert not app.parts.menu.is_open
        await pilot.press(*"As")
        await settled(pilot)
        assert app.parts.menu.is_open
