"""`/rewind`: which message, then what goes back or is summarized."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace
from textual.pilot import Pilot

from agent.messages import user_message
from agent.session.checkpoints.blobs import PathState
from agent.session.checkpoints.checkpoint import FileChange, Preview, RestoreResult
from tests.tui.app.test_app_keys import settled, text_of, transcript_of
from tests.tui.panels.test_panels import opened
from tests.tui.recorded import RecordedConversation, make_app
from tui.app.app import AgentApp
from tui.app.session.session_control import ExitReport


@dataclass
class Changed(RecordedConversation):
    """A conversation whose prompts changed files."""

    was_restored: bool = False

    async def preview_files(self, turn_id: str) -> Preview | None:
        state = PathState("absent")
        paths = [Path(f"/home/ada/slugs/f{n}.py") for n in range(9)]
        changes = tuple(FileChange(path, "write", state, state) for path in paths)
        return Preview(turn_id, changes, ("what `make` wrote",))

    async def restore_files(self, turn_id: str) -> RestoreResult | None:
        self.was_restored = True
        return None


def app_with(kind: type[RecordedConversation] = RecordedConversation) -> AgentApp:
    conversation = kind([])
    conversation.messages = tuple(
        replace(user_message(text), origin="person") for text in ("first", "second", "third")
    )
    return make_app(conversation)


async def menu(pilot: Pilot[ExitReport], app: AgentApp, *pressed: str) -> str:
    await settled(pilot)
    await opened(pilot, "/rewind")
    await pilot.press(*pressed, "enter")
    await settled(pilot)
    return text_of(app.parts.dialogs)


async def test_the_menu_says_what_each_choice_does() -> None:
    app = app_with(Changed)
    async with app.run_test(size=(80, 24)) as pilot:
        text = await menu(pilot, app)
        assert "Rewind to before “third”. 9 files will be restored:" in text
        assert "and 3 files more" in text
        assert "not restored: what `make` wrote" in text
        labels = (
            "Restore code and conversation",
            "Restore conversation ",
            "Restore code  ",
            "Summarize from here",
            "Summarize up to here",
            "Cancel",
        )
        places = [text.index(label) for label in labels]
        assert places == sorted(places)


async def test_a_slash_begins_a_search() -> None:
    app = app_with()
    async with app.run_test(size=(80, 24)) as pilot:
        text = await menu(pilot, app, "slash", *"fir")
        assert "Rewind to before “first”" in text


async def test_without_changed_files_nothing_happens_before_it_was_chosen() -> None:
    app = app_with()
    async with app.run_test(size=(80, 24)) as pilot:
        text = await menu(pilot, app, "down")
        assert "No files were changed since." in text
        assert "Restore code" not in text
        await pilot.press("end", "enter")
        await settled(pilot)
        conversation = app.parts.conversations.current
        assert conversation is not None
        assert len(conversation.view.messages) == 3
        await menu(pilot, app, "down")
        await pilot.press("enter")
        await settled(pilot)
        assert [message.text for message in conversation.view.messages] == ["first"]
        assert app.parts.composer.buffer.text == "second"


async def test_a_part_is_summarized_and_its_prompt_comes_back() -> None:
    for steps, side, draft in ((1, "since", "third"), (2, "before", "")):
        app = app_with()
        async with app.run_test(size=(80, 24)) as pilot:
            await menu(pilot, app)
            await pilot.press(*["down"] * steps, "enter")
            await settled(pilot)
            await pilot.press("ctrl+o")
            await settled(pilot)
            assert f"Summary  of what came {side}" in transcript_of(app)
            assert app.parts.composer.buffer.text == draft
