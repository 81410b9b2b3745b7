"""What a click does beside the transcript's cards: the mode, and the changes of a turn."""

from __future__ import annotations

import pytest
from textual import events

from agent.display import DiffDisplay
from permissions.mode import Mode
from tests.tui.app.test_app_commands import drag, pointer
from tests.tui.app.test_app_keys import played, settled, text_of, transcript_of, until
from tests.tui.recorded import make_app
from tui.transcript.blocks import EndLine, ToolCard
from tui.transcript.turn_facts import TurnFacts


@pytest.mark.parametrize(("x", "mode"), [(4, Mode.ACCEPT_EDITS), (45, Mode.DEFAULT)])
async def test_a_click_on_the_mode_chooses_the_next(x: int, mode: Mode) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: app.parts.conversations.current is not None)
        for kind in (events.MouseDown, events.MouseUp):
            await app.on_event(pointer(kind, x, 19))
        await until(pilot, lambda: app.parts.status_line.status.mode is mode)
        assert app.parts.status_line.status.mode is mode


async def test_a_click_on_an_offer_completes_it() -> None:
    app = make_app(played([]))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        await pilot.press("/", "c", "o")
        await settled(pilot)
        menu = app.parts.menu
        lines = text_of(menu).splitlines()
        index = next(i for i, line in enumerate(lines) if "/context" in line)
        for kind in (events.MouseDown, events.MouseUp):
            await app.on_event(pointer(kind, 6, menu.region.y + index))
        await until(pilot, lambda: app.parts.composer.buffer.text == "/context ")
        assert not menu.is_open


@pytest.mark.parametrize("has_changes", [True, False])
async def test_a_click_on_the_end_of_a_turn_shows_its_changes(has_changes: bool) -> None:
    app = make_app(played([]))
    async with app.run_test(size=(60, 20)) as pilot:
        await settled(pilot)
        app.parts.transcript.show(0, [EndLine("e", "completed", "1 file", has_changes)])
        await settled(pilot)
        sent: list[str] = []
        app.parts.transcript.changes_pressed = lambda: sent.append("/diff")
        await drag(app, (5, 0), (5, 0))
        await until(pilot, lambda: bool(sent) is has_changes)
        assert sent == (["/diff"] if has_changes else [])


@pytest.mark.parametrize(("x", "opens"), [(57, True), (55, True), (30, False), (2, False)])
async def test_a_click_on_the_counts_of_a_card_shows_the_changes(x: int, opens: bool) -> None:
    display = DiffDisplay("a.py", "a\n" * 40, "b\n" * 40)
    card = ToolCard("u1", "Edit", "Edit a.py", "ok", {}, 0.0, display=display)
    app = make_app(played([]))
    async with app.run_test(size=(60, 60)) as pilot:
        await settled(pilot)
        app.parts.transcript.show(0, [card])
        await settled(pilot)
        first = transcript_of(app).splitlines()
        assert "+40 −40" in first[0]
        sent: list[str] = []
        app.parts.transcript.changes_pressed = lambda: sent.append("/diff")
        await drag(app, (x, 0), (x, 0))
        await settled(pilot)
        assert sent == (["/diff"] if opens else [])
        # Elsewhere in the row the card unfolds.
        assert (transcript_of(app).splitlines() == first) is opens


def test_a_turn_has_changes_once_a_file_changed() -> None:
    facts = TurnFacts()
    assert not facts.has_changes
    facts.take(DiffDisplay("a.py", "a\n", "b\n"), "u1")
    assert facts.has_changes
