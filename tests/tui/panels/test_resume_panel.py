"""`/resume`: sessions are found by what was said, renamed, exported, and removed by wish alone."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from textual.pilot import Pilot

from agent.messages import Message, text_block, user_message
from agent.prompt.shell_command_note import note_of
from agent.session.archive.summaries import summarize
from agent.session.record_json import to_json
from agent.session.records import MessageRecord
from agent.session.store import SessionStore
from tests.tui.app.test_app_keys import keys, settled, text_of, transcript_of
from tests.tui.panels.test_panels import app_of, opened
from tests.tui.recorded import RecordedConversation, center_for, make_app
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.panels.list_panel import ListPanel
from tui.panels.resume import FIRST_SESSIONS, MORE_SESSIONS


def session(home: Path, project: Path, *said: str) -> str:
    made = SessionStore(home / ".agent").create(project)
    for text in said:
        made.transcript.append(to_json(MessageRecord(user_message(text))))
        answer = Message("assistant", (text_block(f"About {text}."),), "model")
        made.transcript.append(to_json(MessageRecord(answer)))
    made.close()
    return made.id


def app_with(tmp_path: Path) -> AgentApp:
    conversation = RecordedConversation([])
    conversation.cwd = tmp_path
    conversation.commands = center_for(conversation, tmp_path)
    return make_app(conversation)


async def answer(pilot: Pilot[ExitReport], key: str, text: str) -> None:
    """Press a key of the list and type a line into what opens."""
    await pilot.press(key)
    await settled(pilot)
    app_of(pilot).parts.dialogs._guard._guarded_until_s = 0.0
    await pilot.press(*keys(text), "enter")
    await settled(pilot)
    await settled(pilot)
    app_of(pilot).parts.dialogs._guard._guarded_until_s = 0.0


async def test_the_preview_shows_an_answer_as_it_was_drawn(tmp_path: Path) -> None:
    made = SessionStore(tmp_path / ".agent").create(tmp_path)
    answer_text = "## Cause\n\nThe **cache** in `parse` is stale.\n\n```\nx\n```\n"
    for message in (
        user_message("why is it slow"),
        Message("assistant", (text_block(answer_text),), "model"),
    ):
        made.transcript.append(to_json(MessageRecord(message)))
    made.close()
    app = app_with(tmp_path)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        shown = await opened(pilot, "/resume")
        assert "Cause" in shown
        assert "The cache in parse is stale." in shown
        assert "**" not in shown
        assert "##" not in shown


async def test_a_session_is_renamed_exported_and_removed(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    store = SessionStore(tmp_path / ".agent")
    session_id = session(tmp_path, tmp_path, "parse the log")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert "parse the log" in await opened(pilot, "/resume")
        await answer(pilot, "ctrl+r", "Log parser")
        assert summarize(store.get(session_id)).title == "Log parser"
        assert "Log parser" in text_of(app.parts.dialogs)
        await answer(pilot, "ctrl+e", "out.md")
        assert "About parse the log." in (tmp_path / "out.md").read_text()
        await answer(pilot, "ctrl+e", "out.md")
        assert "File exists" in transcript_of(app)
        await answer(pilot, "ctrl+x", "no")
        assert len(store.list()) == 1
        await answer(pilot, "ctrl+x", "remove")
        assert store.list() == ()


async def test_words_are_found_in_every_project(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    session(tmp_path, tmp_path / "elsewhere", "draw a heron", "and a lake")
    session(tmp_path, tmp_path / "elsewhere", "count to ten")
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert "count to ten" in await opened(pilot, "/resume")
        await answer(pilot, "ctrl+f", "heron")
        found = text_of(app.parts.dialogs)
        assert "draw a heron" in found
        assert "count to ten" not in found
        await pilot.press("escape")
        await settled(pilot)
        assert "Resume" in text_of(app.parts.dialogs)


async def test_a_session_that_began_with_a_command_is_called_by_it(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    session(tmp_path, tmp_path, note_of("make test", "all fine\n", 0))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        shown = await opened(pilot, "/resume")
        assert "❯ !make test" in shown


async def test_sessions_beyond_the_first_are_read_while_the_list_is_open(tmp_path: Path) -> None:
    app = app_with(tmp_path)
    oldest = session(tmp_path, tmp_path, "the oldest one")
    for number in range(FIRST_SESSIONS + MORE_SESSIONS):
        session(tmp_path, tmp_path, f"number {number}")
    os.utime(SessionStore(tmp_path / ".agent").get(oldest).path, (0, 0))
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await opened(pilot, "/resume")
        panel = app.parts.dialogs.current
        assert isinstance(panel, ListPanel)
        async with asyncio.timeout(20):
            while panel.shown_range[2] <= FIRST_SESSIONS + MORE_SESSIONS:
                await pilot.pause()
        await pilot.press(*keys("the oldest"))
        await settled(pilot)
        assert "❯ the oldest one" in text_of(app.parts.dialogs)
        assert "About the oldest one." in text_of(app.parts.dialogs)
