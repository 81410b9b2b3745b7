"""Pictures pasted and dropped, long pastes, and drafts put aside."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot

from agent.files.mentions import find_mentions
from tests.tui.app.test_app_keys import played, settled, text_of
from tests.tui.recorded import RecordedConversation, make_app
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport
from tui.editing.draft import CHIP_CHARS, LONG_CHARS, Draft
from tui.editing.text_buffer import TextBuffer
from tui.prompt.pasted_image import dropped_images

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    found = [tmp_path / "a b.png", tmp_path / "ü'\"x.JPG"]
    for path in found:
        path.write_bytes(PNG)
    return found


def as_pasted(path: Path) -> list[str]:
    return [str(path), shlex.quote(str(path)), str(path).replace(" ", "\\ "), path.as_uri()]


def test_a_dropped_picture_is_known_in_every_spelling(pictures: list[Path]) -> None:
    for spelling in as_pasted(pictures[0]):
        assert dropped_images(spelling) == [pictures[0]]
    both = " ".join(shlex.quote(str(path)) for path in pictures)
    assert dropped_images(both + " ") == pictures
    assert dropped_images(pictures[1].as_uri()) == [pictures[1]]


@pytest.mark.parametrize("text", ["", "hello", "/etc/passwd", "/no/such.png", "'/a", "a.png", "/"])
def test_other_pastes_are_text(text: str) -> None:
    assert dropped_images(text) == []


def app_in(scratch: Path) -> tuple[AgentApp, RecordedConversation]:
    conversation = played([], [])
    assert conversation.commands is not None
    gate = conversation.commands.context.gate
    gate.replace_context(replace(gate.context, scratch_dir=scratch))
    return make_app(conversation), conversation


async def paste(pilot: Pilot[ExitReport], text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await settled(pilot)
    await pilot.app.workers.wait_for_complete()
    await settled(pilot)


async def test_a_dropped_picture_is_a_label_and_its_copy_is_sent(
    tmp_path: Path, pictures: list[Path]
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    app, conversation = app_in(scratch)
    async with app.run_test(size=(70, 20)) as pilot:
        await settled(pilot)
        await pilot.press(*"see")
        await paste(pilot, shlex.quote(str(pictures[0])))
        await pilot.press(*"now")
        assert " ❯ see [Image #1]now" in text_of(app.parts.composer)
        await pilot.press("enter")
        await settled(pilot)
        (sent,) = conversation.received
        ((mention, *_),) = find_mentions(sent)
        assert Path(mention.path).parent == scratch
        assert Path(mention.path).read_bytes() == PNG


async def test_a_long_paste_opens_when_it_is_pasted_again_and_by_its_key() -> None:
    app, _ = app_in(Path("/nowhere"))
    long = "x" * (CHIP_CHARS + 1)
    async with app.run_test(size=(70, 20)) as pilot:
        await settled(pilot)
        await paste(pilot, long)
        assert "[Pasted text #1" in text_of(app.parts.composer)
        await paste(pilot, long)
        assert app.parts.composer.buffer.text == long
        await pilot.press("ctrl+u")
        await paste(pilot, long)
        await pilot.press("ctrl+x", "ctrl+v")
        assert app.parts.composer.buffer.text == long


async def test_drafts_put_aside_are_counted_and_kept_with_the_draft() -> None:
    app, conversation = app_in(Path("/nowhere"))
    async with app.run_test(size=(70, 20)) as pilot:
        await settled(pilot)
        await pilot.press(*"one", "ctrl+s", *"two", "ctrl+s", *"three")
        assert "2 drafts stashed: ctrl+s" in text_of(app.parts.composer)
        app.parts.drafts.save()
        assert conversation.draft == "one\n\ntwo\n\nthree"
        await pilot.press("ctrl+u", "ctrl+s")
        assert app.parts.composer.buffer.text == "two"
        assert "a draft stashed" in text_of(app.parts.composer)


def test_an_endless_earlier_prompt_comes_back_as_a_label() -> None:
    text = "y" * (LONG_CHARS + 1)
    draft = Draft.of_text(text)
    assert len(draft.text) == 1
    assert draft.expanded_text == text


def test_expanding_keeps_the_cursor_and_pictures() -> None:
    buffer = TextBuffer()
    buffer.insert_chip("@/p.png ", "image")
    buffer.paste("z" * (CHIP_CHARS + 1))
    buffer.insert("end")
    buffer.left()
    buffer.expand_chips()
    assert buffer.text[buffer.cursor :] == "d"
    assert buffer.draft.expanded_text == "@/p.png " + "z" * (CHIP_CHARS + 1) + "end"
    buffer.undo()
    assert len(buffer.text) == 5


def test_what_no_one_could_edit_here_stays_a_label() -> None:
    endless = "z" * (LONG_CHARS + 1)
    buffer = TextBuffer()
    buffer.paste(endless)
    buffer.paste(endless)
    buffer.expand_chips()
    assert len(buffer.text) == 2
    buffer.set_text(endless)
    assert len(buffer.text) == 1
    buffer.insert(endless)
    assert len(buffer.text) == 2
    assert buffer.draft.expanded_text == endless * 2
