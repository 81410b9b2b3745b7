"""What is typed, sent or dropped before there is a conversation: nothing of it is lost."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events

from agent.files.mentions import find_mentions
from permissions.mode import Mode
from tests.tui.app.test_app_keys import keys, played, send, settled, text_of, transcript_of
from tests.tui.recorded import RecordedConversation, make_app
from tui.app.app import AgentApp
from tui.text.styled_rows import plain

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


def waiting(conversation: RecordedConversation) -> tuple[AgentApp, asyncio.Event]:
    """An app whose conversation is there once the event is set."""
    ready = asyncio.Event()
    app = make_app(conversation)
    make = app.parts.conversations.make

    async def slow(ports: object) -> RecordedConversation:
        await ready.wait()
        return await make(ports)  # type: ignore[arg-type, return-value]

    app.parts.conversations.make = slow
    return app, ready


@pytest.mark.parametrize("line", ["/exit", "/quit", ":q"])
async def test_leaving_needs_no_conversation(line: str) -> None:
    app, _ = waiting(played())
    async with app.run_test(size=(70, 24)) as pilot:
        await send(pilot, line)
    assert app.return_value is not None
    assert not app.return_value.error


async def test_leaving_waits_for_a_prompt_sent_before_it() -> None:
    conversation = played([])
    app, ready = waiting(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await send(pilot, "early")
        await send(pilot, "/exit")
        assert app.is_running
        ready.set()
        await settled(pilot)
        await pilot.app.workers.wait_for_complete()
    assert app.return_value is not None
    assert conversation.received == ["early"]


async def test_the_mode_is_shown_once_it_is_known() -> None:
    conversation = played([])
    conversation.status.mode = Mode.PLAN
    app, ready = waiting(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.pause()
        assert "mode" not in text_of(app.parts.status_line)
        ready.set()
        await settled(pilot)
        assert text_of(app.parts.status_line).startswith(" ⏸ plan mode on")
        header = app.parts.transcript
        assert "It reads and makes a plan" in plain(header._header)
        conversation.status.mode = Mode.BYPASS
        app.parts.lines.show()
        assert "It changes files and runs commands without asking." in plain(
            app.parts.transcript._header
        )


async def test_help_opens_at_once() -> None:
    app, _ = waiting(played())
    async with app.run_test(size=(70, 24)) as pilot:
        await send(pilot, "/help")
        assert "Help" in text_of(app.parts.dialogs)


async def test_lines_behind_a_command_wait_for_it() -> None:
    conversation = played([])
    app, ready = waiting(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await send(pilot, "/model claude-opus-5-5")
        await send(pilot, "go")
        assert conversation.received == []
        assert transcript_of(app).count("/model") == 0
        ready.set()
        await settled(pilot)
        await settled(pilot)
        assert conversation.model == "claude-opus-5-5"
        assert conversation.received == ["go"]


async def test_a_draft_typed_before_is_recorded() -> None:
    conversation = played()
    app, ready = waiting(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.press(*keys("half"))
        ready.set()
        await settled(pilot)
        app.parts.drafts.settle()
        assert conversation.draft == "half"


@pytest.mark.parametrize("is_sent", [False, True])
async def test_an_image_dropped_before_is_attached(tmp_path: Path, is_sent: bool) -> None:
    image, scratch = tmp_path / "a b.png", tmp_path / "scratch"
    image.write_bytes(PNG)
    scratch.mkdir()
    conversation = played([])
    assert conversation.commands is not None
    gate = conversation.commands.context.gate
    gate.replace_context(replace(gate.context, scratch_dir=scratch))
    app, ready = waiting(conversation)
    async with app.run_test(size=(70, 24)) as pilot:
        await pilot.press(*"see")
        app.post_message(events.Paste(shlex.quote(str(image))))
        await settled(pilot)
        if is_sent:
            await pilot.press("enter")
        ready.set()
        await settled(pilot)
        await app.workers.wait_for_complete()
        await settled(pilot)
        if not is_sent:
            assert " ❯ see [Image #1]" in text_of(app.parts.composer)
            await pilot.press("enter")
            await settled(pilot)
        (sent,) = conversation.received
        ((mention, *_),) = find_mentions(sent)
        assert Path(mention.path).read_bytes() == PNG
        assert app.parts.composer.buffer.is_empty
