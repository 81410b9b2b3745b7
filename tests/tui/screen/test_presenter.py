"""The cell layer below Textual: every frame equals Textual's own, for far fewer bytes."""

from __future__ import annotations

import asyncio
import random
import re
from typing import Any

import pytest
from textual import events
from textual.containers import VerticalScroll
from textual.pilot import Pilot
from textual.widgets import Input, Static

from tests.tui.screen.twin import Box, Lines, TwinApp, resize_event
from tui.screen.cell import UNKNOWN


@pytest.fixture(autouse=True)
def _truecolor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


def _frames_of(app: TwinApp) -> list[str]:
    """Return a list that grows by what each frame writes."""
    frames: list[str] = []
    encode = app._encode

    def keep() -> str:
        frames.append(encode())
        return frames[-1]

    app._encode = keep  # type: ignore[method-assign]  # seen, not replaced
    return frames


async def _act(app: TwinApp, pilot: Pilot[None], dice: random.Random, step: int) -> None:
    """Do one random thing that a user or the agent could do."""
    match dice.randrange(10):
        case 0 | 1 | 2:
            await pilot.press(dice.choice("abc好é世"))
        case 3:
            await pilot.press("backspace")
        case 4 | 5:
            for view in app.screen.query(dice.choice(["Lines", "VerticalScroll"])):
                view.scroll_relative(y=dice.choice([-7, -1, 1, 1, 2, 5]), animate=False)
        case 6:
            for tail in app.screen.query("#tail").results(Static):
                tail.update("streamed 好 words " * dice.randrange(12))
        case 7:
            if dice.random() < 0.5 and len(app.screen_stack) == 1:
                await app.push_screen(Box())
            elif len(app.screen_stack) > 1:
                await app.pop_screen()
        case 8:
            app.notify(f"toast {step}", timeout=60)
        case _:
            if dice.random() < 0.3:
                app.post_message(resize_event(dice.randrange(20, 90), dice.randrange(8, 30)))
            else:
                app.invalidate_screen()


@pytest.mark.parametrize("seed", range(4))
async def test_every_frame_equals_textuals_own(seed: int) -> None:
    dice = random.Random(seed)
    app = TwinApp()
    size = dice.choice([(80, 24), (120, 40), (33, 9)])
    async with app.run_test(size=size) as pilot:
        app.query_one(Input).focus()
        for step in range(40):
            await _act(app, pilot, dice, step)
            await pilot.pause()
            assert app.differences == []
    assert app.frames > 20
    assert app._uses_cells


async def test_a_streaming_frame_writes_only_what_is_new() -> None:
    app = TwinApp()
    async with app.run_test(size=(100, 30)) as pilot:
        tail = app.query_one("#tail", Static)
        tail.update("one two three")
        await pilot.pause()
        before = app.cell_bytes
        tail.update("one two three four")
        await pilot.pause()
        assert 0 < app.cell_bytes - before < 60


async def test_scrolling_moves_lines_instead_of_writing_them() -> None:
    app = TwinApp()
    async with app.run_test(size=(100, 30)) as pilot:
        app.query_one("#widgets", VerticalScroll).display = False
        await pilot.pause()
        before = app.cell_bytes
        app.query_one(Lines).scroll_relative(y=1, animate=False)
        await pilot.pause()
        assert 0 < app.cell_bytes - before < 400


async def test_invalidation_writes_everything_again_without_clearing() -> None:
    app = TwinApp()
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        frames = _frames_of(app)
        app.invalidate_screen()
        assert len(frames) == 1
        assert "\x1b[2J" not in frames[0]
        assert app.differences == []
        assert all(cell is not UNKNOWN for row in app._cells.front.rows for cell in row)


async def test_a_key_draws_its_own_frame_and_other_changes_wait_for_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("textual.screen.UPDATE_PERIOD", 3600.0)
    app = TwinApp()
    async with app.run_test(size=(60, 15)) as pilot:
        app.query_one(Input).focus()
        await pilot.press("a")
        await _let_everything_run()
        shown = app.frames
        app.query_one("#tail", Static).update("streamed")
        await _let_everything_run()
        assert app.frames == shown
        app.post_message(events.Key("b", "b"))
        await _let_everything_run()
        assert app.frames > shown
        assert app.differences == []


async def _let_everything_run() -> None:
    """Run what is ready; unlike the pilot's pause this draws nothing."""
    for _ in range(100):
        await asyncio.sleep(0)


async def test_an_update_of_nothing_costs_nothing() -> None:
    app = TwinApp()
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        app._display(app.screen, None)
        before = app.cell_bytes
        app.query_one("#tail", Static).update("x")
        await pilot.pause()
        assert 0 < app.cell_bytes - before < 60


@pytest.mark.parametrize("size", [(1, 1), (2, 1), (1, 3), (3, 2)], ids=str)
async def test_tiny_windows_draw(size: tuple[int, int]) -> None:
    app = TwinApp()
    async with app.run_test(size=size) as pilot:
        await pilot.press("好")
        await pilot.pause()
        assert app.differences == []
        assert (app._cells.back.width, app._cells.back.height) == size


@pytest.mark.parametrize(
    ("term", "color"), [("xterm", r"3[0-7]|4[0-7]|9[0-7]|10[0-7]"), ("xterm-256color", "[34]8;5;")]
)
async def test_terminals_with_few_colors_get_no_others(
    monkeypatch: pytest.MonkeyPatch, term: str, color: str
) -> None:
    monkeypatch.setenv("TERM", term)
    monkeypatch.delenv("COLORTERM")
    app = TwinApp()
    frames = _frames_of(app)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press("a")
    written = "".join(frames)
    assert not re.search("[34]8;2;", written)
    assert re.search(rf"\x1b\[[\d;]*\b({color})", written)


async def test_the_environment_can_leave_the_output_to_textual(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENT_TUI_RENDERER", "textual")
    app = TwinApp()
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press("a")
        assert app.frames == 0


async def test_text_with_control_characters_never_reaches_the_terminal() -> None:
    app = TwinApp()
    seen = _frames_of(app)
    async with app.run_test(size=(60, 15)) as pilot:
        evil: Any = "safe\x1b]0;owned\x07\x9b31mtext\x7f"
        tail = app.query_one("#tail", Static)
        tail.update(evil)
        await pilot.pause()
    written = "".join(seen)
    assert "\x1b]0" not in written
    assert "\x07" not in written
    assert "\x9b" not in written


async def test_a_fault_of_the_cell_layer_leaves_the_output_to_textual() -> None:
    app = TwinApp()
    async with app.run_test(size=(60, 15)) as pilot:
        app.query_one(Input).focus()
        await pilot.pause()
        app._cells.back.rows.clear()
        await pilot.press("a", "b")
        assert app.query_one(Input).value == "ab"
        assert not app._uses_cells
        assert app.is_running
