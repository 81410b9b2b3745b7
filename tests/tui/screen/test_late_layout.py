"""What moved is painted where it is now, whoever asked about places before the layout."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widgets import Static

from tests.tui.screen.twin import RendersTwice
from tui.input.routed import RoutedApp
from tui.screen.direct import DirectOutput


class StackApp(RendersTwice[None], DirectOutput[None], RoutedApp[None]):
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
