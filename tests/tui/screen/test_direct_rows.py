"""Rows that changed go past Textual's composition where they may, and only there."""

from __future__ import annotations

from typing import Any

import pytest
from textual._compositor import Compositor
from textual.pilot import Pilot

from agent.events import TextDelta
from tests.tui.app.test_app_keys import keys, send, settled
from tests.tui.recorded import RecordedConversation, Step, make_app, until_interrupted
from tui.app.session.session_control import ExitReport
from tui.screen.cell import UNKNOWN
from tui.screen.presenter import RENDERER_VARIABLE


@pytest.fixture
def compositions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows by an item each time Textual composes a part of the screen."""
    seen: list[int] = []
    compose = Compositor.render_partial_update

    def counted(self: Compositor) -> object:
        update = compose(self)
        if update is not None:
            seen.append(1)
        return update

    monkeypatch.setattr(Compositor, "render_partial_update", counted)
    return seen


async def _type(pilot: Pilot[ExitReport], text: str) -> None:
    for key in keys(text):
        await pilot.press(key)
    await pilot.pause()


async def test_keys_and_streamed_text_are_composed_by_no_one(compositions: list[int]) -> None:
    steps: list[Step] = [TextDelta("t1", "m1", 0, "Some words. "), until_interrupted]
    app = make_app(RecordedConversation([steps]))
    async with app.run_test(size=(70, 20)) as pilot:
        await send(pilot, "go")
        compositions.clear()
        await _type(pilot, "typed")
        for number in range(10):
            await app.parts.bridge.put(TextDelta("t1", "m1", 0, f"word{number} "))
            await settled(pilot)
        assert compositions == []
        shown = "\n".join("".join(c.grapheme for c in row) for row in app._cells.back.rows)
        assert "typed" in shown
        assert "word9" in shown


async def test_below_a_toast_textual_composes(compositions: list[int]) -> None:
    app = make_app(RecordedConversation([[until_interrupted]]))
    async with app.run_test(size=(70, 20), notifications=True) as pilot:
        await send(pilot, "go")
        app.notify("above the prompt", timeout=60)
        await pilot.pause()
        compositions.clear()
        await _type(pilot, "typed")
        assert compositions != []
        assert app._uses_cells


async def test_stock_output_knows_no_short_way(
    compositions: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RENDERER_VARIABLE, "textual")
    app = make_app()
    async with app.run_test(size=(70, 20)) as pilot:
        await pilot.pause()
        compositions.clear()
        await _type(pilot, "abc")
        assert compositions != []


async def test_a_frame_of_rows_says_nothing_about_how_long_a_layout_takes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = make_app()
    async with app.run_test(size=(70, 20)) as pilot:
        await pilot.pause()
        told: list[int] = []
        monkeypatch.setattr(app, "post_display_hook", lambda: told.append(1))
        await _type(pilot, "abc")
        assert told == []


async def test_a_key_that_comes_with_a_resize_shows_before_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = make_app(
        RecordedConversation([[TextDelta("t1", "m1", 0, "An answer."), until_interrupted]])
    )
    async with app.run_test(size=(70, 20)) as pilot:
        await send(pilot, "go")
        await settled(pilot)
        frames: list[str] = []
        encode = app._cells.encode

        def note(*args: Any, **options: Any) -> str:
            data = encode(*args, **options)
            frames.append(data)
            return data

        monkeypatch.setattr(app._cells, "encode", note)
        app.discrete_input_pending = True
        await pilot.resize_terminal(60, 16)
        await settled(pilot)
        with_prompt, rest = [data for data in frames if data][:2]
        assert "❯" in with_prompt
        assert "An answer." not in with_prompt
        assert "An answer." in rest
        assert app._cells.front.rows == app._cells.back.rows
        assert not any(UNKNOWN in row for row in app._cells.front.rows)
