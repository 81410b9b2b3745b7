"""Keys typed between two dialogs of one command: for the next dialog, never lost, in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from agent.abort import AbortController
from agent.tools.services import Question, QuestionOption
from tests.tui.app.test_app_keys import played, settled, text_of
from tests.tui.recorded import make_app, until_interrupted
from tui.app.app import AgentApp
from tui.app.keys import between_dialogs
from tui.app.session.session_control import ExitReport
from tui.dialogs.ports import DialogUser
from tui.panels import theme
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen

ASKED = [Question("Which?", "Which", (QuestionOption("first"), QuestionOption("second")))]


class SlowCommand:
    """A command with a list, then a field; it reads for as long as the test wants in between."""

    def __init__(self, pilot: Pilot[ExitReport]) -> None:
        self.pilot = pilot
        app = pilot.app
        assert isinstance(app, AgentApp)
        self.app = app
        self.answers: list[str | None] = []
        self.is_reading = asyncio.Event()
        self.has_read = asyncio.Event()
        self.has_second = True

    async def open_panel(self, screen: CommandScreen, _argument: str) -> None:
        picked = await screen.show_dialog(ListPanel("First", [Item("one"), Item("two")]))
        self.answers.append(str(picked.index) if picked is not None else None)
        self.is_reading.set()
        await self.has_read.wait()
        if self.has_second:
            entry = LineEntry("Second", "a name", "enter done")
            self.answers.append(await screen.show_dialog(entry))

    async def shows(self, text: str) -> None:
        async with asyncio.timeout(20):
            while text not in text_of(self.app.parts.dialogs):
                await settled(self.pilot)

    async def in_prompt(self, text: str) -> None:
        async with asyncio.timeout(20):
            while self.app.parts.composer.buffer.text != text:
                await settled(self.pilot)

    async def runs(self, is_wanted: bool) -> None:
        async with asyncio.timeout(20):
            while self.app.parts.runner.is_running is not is_wanted:
                await settled(self.pilot)


@asynccontextmanager
async def command(
    monkeypatch: pytest.MonkeyPatch, limit_s: float = 600
) -> AsyncIterator[SlowCommand]:
    monkeypatch.setattr(between_dialogs, "HOLD_LIMIT_S", limit_s)
    app = make_app(played([until_interrupted]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        slow = SlowCommand(pilot)
        monkeypatch.setattr(theme, "open_panel", slow.open_panel)
        app.parts.submission.submit("/theme")
        await slow.shows("First")
        yield slow


async def test_a_burst_reaches_the_dialogs_it_was_typed_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with command(monkeypatch) as slow:
        await slow.pilot.press("down", "enter", *"abc", "backspace", "d")
        await slow.is_reading.wait()
        assert slow.app.parts.composer.buffer.is_empty
        slow.has_read.set()
        await slow.shows("abd")
        await slow.pilot.press("enter", *"next")
        await slow.in_prompt("next")
        assert slow.answers == ["1", "abd"]


async def test_what_no_dialog_takes_is_typed_into_the_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with command(monkeypatch) as slow:
        slow.has_second = False
        await slow.pilot.press("escape", *"words")
        await slow.is_reading.wait()
        assert slow.app.parts.composer.buffer.is_empty
        slow.has_read.set()
        await slow.in_prompt("words")


async def test_after_the_limit_the_prompt_gets_what_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with command(monkeypatch, limit_s=0.001) as slow:
        await slow.pilot.press("escape", *"words")
        await slow.in_prompt("words")
        assert (slow.is_reading.is_set(), slow.has_read.is_set()) == (True, False)


async def test_ctrl_c_interrupts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with command(monkeypatch) as slow:
        slow.app.parts.session.send("go")
        await slow.runs(True)
        await slow.pilot.press("escape", "x", "ctrl+c")
        await slow.runs(False)
        assert not slow.has_read.is_set()
        slow.has_read.set()
        await slow.shows("x")


async def test_keys_for_a_panel_never_answer_a_question_that_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with command(monkeypatch) as slow:
        await slow.pilot.press("escape", "1", "enter")
        await slow.is_reading.wait()
        parts = slow.app.parts
        user = DialogUser(parts.dialogs, parts.highlighter)
        asked = asyncio.ensure_future(user.ask(ASKED, AbortController().signal))
        await slow.shows("Which?")
        await slow.in_prompt("1")
        assert not asked.done()
        asked.cancel()
