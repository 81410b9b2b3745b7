"""A window that takes other sizes: laid out once for each, and shown whole whatever came before."""

from __future__ import annotations

import asyncio
import random

import pyte
import pytest
from rich.segment import Segment
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widgets import Input, Static

from tests.tui.screen.twin import Box, RendersTwice, resize_event
from tui.input.routed_app import RoutedApp
from tui.screen.cell import UNKNOWN
from tui.screen.direct_rows import DirectRows, DrawsRows


class Ruler(DrawsRows):
    """Rows that say where they are, painted past Textual."""

    DEFAULT_CSS = "Ruler { height: 1fr; width: 1fr; }"

    def render_line(self, y: int) -> Strip:
        text = f"row {y} of {self.size.height}: {'世' * 60}"
        return Strip([Segment(text)]).crop_extend(0, self.size.width, None)


class FixedApp(RendersTwice[None], DirectRows[None], RoutedApp[None]):
    """A screen without scrollbars, as the program's is."""

    CSS = """
    Screen { overflow: hidden; }
    VerticalScroll { height: 1fr; }
    #tail { height: auto; }
    """

    def compose(self) -> ComposeResult:
        yield Ruler()
        with VerticalScroll():
            for number in range(9):
                yield Static(f"widget {number} " + "x 世 " * (number % 20))
        yield Static("words that wrap where the window is narrow", id="tail")
        yield Input("typed")


def _cells(app: FixedApp) -> list[list[pyte.screens.Char]]:
    written = app._screens[1]
    return [[written.buffer[y][x] for x in range(written.columns)] for y in range(written.lines)]


async def _fresh(width: int, height: int, *, has_box: bool) -> list[list[pyte.screens.Char]]:
    app = FixedApp()
    async with app.run_test(size=(width, height)) as pilot:
        if has_box:
            await app.push_screen(Box())
        await pilot.pause()
        return _cells(app)


@pytest.mark.parametrize("seed", range(3))
async def test_after_a_storm_the_screen_is_that_of_a_fresh_start(seed: int) -> None:
    dice = random.Random(seed)
    app = FixedApp()
    has_box = False
    async with app.run_test(size=(60, 20)) as pilot:
        for step in range(20):
            app.post_message(resize_event(dice.randrange(20, 90), dice.randrange(8, 30)))
            if step % 7 == 6:
                await (app.pop_screen() if has_box else app.push_screen(Box()))
                has_box = not has_box
            if dice.random() < 0.4:
                await pilot.pause()
        await pilot.pause()
        assert _cells(app) == await _fresh(*app.size, has_box=has_box)


class PlainApp(RendersTwice[None], DirectRows[None], RoutedApp[None]):
    """Nothing on it asks for a layout of its own."""

    CSS = "Screen { overflow: hidden; }"

    def compose(self) -> ComposeResult:
        yield Input("typed")


async def test_a_size_is_laid_out_once() -> None:
    app = PlainApp()
    laid_out: list[Size] = []

    def note(screen: Screen[object]) -> None:
        laid_out.append(screen.size)

    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.screen.screen_layout_refresh_signal.subscribe(app, note)
        app.post_message(resize_event(50, 18))
        await pilot.pause()
        assert laid_out == [(50, 18)]


async def test_a_window_that_is_back_at_its_size_at_once_is_written_anew() -> None:
    app = FixedApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        before = app.cell_bytes
        is_free = asyncio.Event()
        app.screen.call_later(is_free.wait)
        # The terminal loses what is cut off, though nothing is drawn in the smaller window.
        for width, height in ((40, 10), (60, 20)):
            app.post_message(resize_event(width, height))
            taken = asyncio.Event()
            app.call_later(taken.set)
            await taken.wait()
        is_free.set()
        await pilot.pause()
        assert app.cell_bytes - before > 60 * 20 / 4
        assert all(cell is not UNKNOWN for row in app._cells.front.rows for cell in row)
