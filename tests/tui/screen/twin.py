"""An app whose every frame is rendered twice: by Textual and by the cell layer, for comparison."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import pyte
from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from tui.input.routed_app import RoutedApp
from tui.screen.direct_rows import DirectRows, is_settling
from tui.screen.presenter import CellOutput


class Lines(ScrollView):
    """A transcript drawn line by line."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._lines = [f"{n:>5} │ {'lorem 好 ipsum é ' * (n % 4)}end {n}" for n in range(count)]
        self.virtual_size = Size(60, count)

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        text = self._lines[number] if number < len(self._lines) else ""
        style = Style(bold=number % 7 == 0, color="red" if number % 5 == 0 else None)
        return Strip([Segment(text, style)]).crop_extend(0, self.size.width, Style())


class Box(ModalScreen[None]):
    CSS = "Box { align: center middle; } Box Static { width: 30; height: 5; border: round red; }"

    def compose(self) -> ComposeResult:
        yield Static("a modal 世界 box")


ReturnType = TypeVar("ReturnType")


class RendersTwice(CellOutput[ReturnType], Generic[ReturnType]):
    """Compares after every frame; `differences` names what is unlike. Put it before the app."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.differences: list[str] = []
        self.frames = 0
        self.stock_bytes = self.cell_bytes = 0
        self._stock_text = ""
        self._is_comparable = False
        self._screens = (_emulator(1, 1), _emulator(1, 1))

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        update: object = renderable
        self._stock_text = ""
        if isinstance(update, CompositorUpdate):
            self._stock_text = update.render_segments(self.console)
        match update:
            case LayoutUpdate(region=region):
                self._is_comparable = region.size == self.size
            case ChopsUpdate(spans=spans):
                # Laid out before the window shrank: Textual writes over the edge until the next
                # layout, the cell layer does not.
                if any(y >= self.size.height or x2 > self.size.width for y, _, x2 in spans):
                    self._is_comparable = False
        super()._display(screen, renderable)

    def _encode(self) -> str:
        data = super()._encode()
        width, height = self._cells.size
        if (self._screens[0].columns, self._screens[0].lines) != (width, height):
            self._screens = (_emulator(width, height), _emulator(width, height))
        stock, ours = self._screens
        pyte.Stream(stock).feed(self._stock_text)
        pyte.Stream(ours).feed(data)
        self.frames += 1
        self.stock_bytes += len(self._stock_text.encode())
        self._stock_text = ""
        self.cell_bytes += len(data.encode())
        if isinstance(self, DirectRows):
            self._show_whole(stock)
        if self._is_comparable:
            self._compare(stock, ours)
        return data

    def _show_whole(self, stock: pyte.Screen) -> None:
        """Show everything as Textual would: rows painted past it are in none of its updates."""
        screen = self.screen
        is_asking = screen._scroll_required or any(
            widget._layout_required or widget._repaint_required
            for widget in (screen, *screen.walk_children(Widget))
        )
        if screen.size != self.size or is_asking or is_settling(screen):
            self._is_comparable = False
            return
        strips = screen._compositor.render_strips()
        whole = LayoutUpdate([[strip] for strip in strips], self.size.region)
        pyte.Stream(stock).feed(whole.render_segments(self.console))
        self._is_comparable = True

    def compare_now(self) -> None:
        """Compare what stands on the screen, when nothing is on its way there."""
        stock, ours = self._screens
        is_planned = isinstance(self, DirectRows) and self.frame_is_planned
        if is_planned or self.screen._dirty_widgets:
            return
        if (stock.columns, stock.lines) == self.size:
            self._show_whole(stock)
            if self._is_comparable:
                self._compare(stock, ours)

    def cells_text(self) -> str:
        """Return what the cell layer has written, one line per row."""
        return "\n".join(self._screens[1].display)

    def position(self) -> str:
        """Return what helps to understand a difference: where the views stand."""
        return ""

    def _compare(self, stock: pyte.Screen, ours: pyte.Screen) -> None:
        rows = stock.dirty | ours.dirty
        stock.dirty.clear()
        ours.dirty.clear()
        for y in sorted(rows):
            if stock.buffer[y] == ours.buffer[y]:
                continue
            for x in range(stock.columns):
                if stock.buffer[y][x] != ours.buffer[y][x]:
                    self.differences.append(
                        f"frame {self.frames} row {y} column {x}: Textual {stock.buffer[y][x]}, "
                        f"ours {ours.buffer[y][x]}; {self.position()}"
                    )
                    return


class TwinApp(RendersTwice[None], RoutedApp[None]):
    """Widgets of every kind."""

    # In a window of a few cells a scrollbar that comes and goes has Textual lay out for ever.
    CSS = """
    VerticalScroll, Lines { height: 1fr; }
    VerticalScroll { overflow-y: scroll; }
    #tail { height: auto; }
    Input { height: 3; }
    """

    def compose(self) -> ComposeResult:
        yield Lines(400)
        with VerticalScroll(id="widgets"):
            for number in range(30):
                yield Static(f"widget {number} " + "x " * (number % 20))
        yield Static("", id="tail")
        yield Input()

    def position(self) -> str:
        return str([widget.scroll_y for widget in self.query("Lines, VerticalScroll")])


def _emulator(width: int, height: int) -> pyte.Screen:
    screen = pyte.Screen(width, height)
    pyte.Stream(screen).feed("\x1b[?7l")
    return screen


def resize_event(width: int, height: int) -> events.Resize:
    size = Size(width, height)
    return events.Resize(size, size)
