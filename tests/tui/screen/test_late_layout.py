"""Nothing that changed is left out of the frames, whatever else happened just before them."""

from __future__ import annotations

from rich.segment import Segment
from textual.app import ComposeResult
from textual.strip import Strip
from textual.widgets import Static

from tests.tui.screen.twin import RendersTwice
from tui.input.routed_app import RoutedApp
from tui.screen.direct_rows import DirectRows, DrawsRows


class StackApp(RendersTwice[None], DirectRows[None], RoutedApp[None]):
    """A stack of widgets, each as high as it is told to be."""

    CSS = "Static { height: 2; }"

    def compose(self) -> ComposeResult:
        yield Static("growing", id="growing")
        yield Static("moved")
        yield Static("moved as well", id="last")


async def test_what_moves_is_painted_even_if_its_place_was_asked_for_before_the_layout() -> None:
    app = StackApp()
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.pause()
        with app.batch_update():
            app.query_one("#growing").styles.height = 3
            await pilot.pause()
            # As a widget does that asks for a frame before its first layout.
            app.screen._compositor.update_widgets({Static("new")})
            assert app.query_one("#last").region.y == 5
        await pilot.pause()
        app.compare_now()
        assert app.differences == []
        assert app.cells_text().split("\n")[5].strip() == "moved as well"


class Line(DrawsRows):
    """One row, painted past Textual."""

    DEFAULT_CSS = "Line { height: 1; width: 1fr; }"
    text = "before"

    def render_line(self, y: int) -> Strip:
        return Strip([Segment(self.text.ljust(self.size.width))])


class LowApp(RendersTwice[None], DirectRows[None], RoutedApp[None]):
    """More than the window shows."""

    CSS = "Screen { overflow: hidden; } Static { height: 2; }"

    def compose(self) -> ComposeResult:
        yield Line()
        yield Static("half of it")
        yield Static("out of view", id="hidden")


async def test_a_row_is_shown_though_textual_only_has_to_draw_what_is_out_of_view() -> None:
    app = LowApp()
    async with app.run_test(size=(30, 2)) as pilot:
        await pilot.pause()
        line = app.query_one(Line)
        line.text = "after"
        line.repaint_rows([0])
        app.query_one("#hidden").refresh()
        await pilot.pause()
        assert app.cells_text().startswith("after ")
        app.compare_now()
        assert app.differences == []
