"""Paints changed rows of a widget into the frame, bypassing Textual's compositor.

Textual renders every visible widget again when a row of one of them changes. A widget that draws
row by row and is not covered is painted directly into the frame instead; layout changes, covered
widgets and scrolling go through Textual. Both ways produce the same cells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar

from rich.console import RenderableType
from rich.style import Style
from textual.filter import ANSIToTruecolor, DimFilter, LineFilter
from textual.geometry import Offset, Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tui.screen.immediate_screen import LaidOutOnce
from tui.screen.paint import paint_strip
from tui.screen.presenter import CellOutput

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.screen.Screen": (
        "_compositor",
        "_dirty_widgets",
        "_layout_required",
        "_pending_message",
        "_repaint_required",
        "_scroll_required",
    ),
    "textual._compositor.Compositor": ("visible_widgets",),
    "textual.widget.Widget": ("_layout_required", "_repaint_required"),
}
"""Private names of Textual that this module uses."""

_OF_COLORS: Final = (ANSIToTruecolor, DimFilter)
"""Filters that change only named colors and dim text."""
_PATIENCE: Final = 20
"""For how many iterations of the event loop a frame waits for widgets with pending updates."""
_MANY_ROWS: Final = 8
"""More changed rows than this are passed to Textual as one region."""


class DrawsRows(LaidOutOnce):
    """A widget whose `render_line` paints it completely: no borders, padding or children."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return rows of the widget, without Textual's cache, which would duplicate our own."""
        strips = self.strips_of(crop.line_range)
        if crop.column_span != (0, self.size.width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def strips_of(self, rows: Collection[int]) -> list[Strip]:
        """Return rows as they are shown, with the app's color filters applied."""
        strips = self.draw_rows(rows)
        filters = self.app.get_line_filters()
        leave_plain = all(isinstance(line_filter, _OF_COLORS) for line_filter in filters)
        return [
            strip if leave_plain and _are_plain(strip) else _apply_filters(strip, filters, self)
            for strip in strips
        ]

    def draw_rows(self, rows: Collection[int]) -> list[Strip]:
        """Return rows without filters; overridden by widgets that draw many rows faster at once."""
        return [self.render_line(y) for y in rows]

    def place_caret(self, position: Offset) -> None:
        """Put the caret at a position within this widget; it moves with the widget."""
        app: Any = self.app
        if isinstance(app, DirectRows):
            app.place_caret(self, position)
        else:
            app.cursor_position = self.content_region.offset + position

    def repaint_rows(self, rows: Collection[int]) -> None:
        """Show rows as `render_line` returns them now."""
        if not rows:
            return
        app: Any = self.app
        if isinstance(app, DirectRows) and app.paint_rows(self, rows):
            return
        width = self.size.width
        if len(rows) > _MANY_ROWS:
            first = min(rows)
            self.refresh(Region(0, first, width, max(rows) - first + 1))
        else:
            self.refresh(*(Region(0, y, width, 1) for y in rows))


def _apply_filters(strip: Strip, filters: Sequence[LineFilter], widget: Widget) -> Strip:
    _, background = widget.background_colors
    for line_filter in filters:
        strip = strip.apply_filter(line_filter, background)
    return strip


def _are_plain(strip: Strip) -> bool:
    """Whether Textual's color filters do not change a row."""
    return all(_is_plain(segment.style) for segment in strip)


@lru_cache(maxsize=1024)
def _is_plain(style: Style | None) -> bool:
    if style is None:
        return True
    colors = (color for color in (style.color, style.bgcolor) if color is not None)
    return not style.dim and all(color.triplet is not None for color in colors)


class UncoveredRows:
    """The regions of widgets that are completely visible, as of the last layout."""

    def __init__(self) -> None:
        """Start without a layout."""
        self._visible: dict[Widget, tuple[Region, Region]] | None = None
        self._regions: dict[Widget, Region] = {}

    def region_of(self, widget: Widget, screen: Screen[Any]) -> Region | None:
        """Return a widget's region if it is completely visible and not covered, otherwise None."""
        visible = screen._compositor.visible_widgets
        if visible is not self._visible:
            self._visible = visible
            self._regions = _uncovered_widgets(visible)
        return self._regions.get(widget)


class DirectRows(CellOutput[ReturnType], Generic[ReturnType]):
    """An app that writes cells, and paints single rows without Textual's compositor."""

    discrete_input_pending: bool
    """See `tui.input.routed_app.RoutedApp`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._caret_position = Offset(0, 0)
        self._caret_widget: Widget | None = None
        self.frame_is_planned = False
        """Whether a frame with painted rows is scheduled but not written yet."""
        self._is_left_to_textual = False
        self._uncovered_rows = UncoveredRows()
        super().__init__(*args, **kwargs)

    @property
    def cursor_position(self) -> Offset:
        """The caret's position on the screen; setting it moves the cursor with the next frame."""
        if self._caret_widget is None:
            return self._caret_position
        return self._caret_widget.content_region.offset + self._caret_position

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        self.place_caret(None, position)

    def place_caret(self, widget: Widget | None, position: Offset) -> None:
        """Put the caret at a position in a widget, with which it moves; in the screen for None."""
        if widget is not self._caret_widget or position != self._caret_position:
            self._caret_widget, self._caret_position = widget, position
            if self._running:
                self._plan_frame()

    def paint_rows(self, widget: DrawsRows, rows: Collection[int]) -> bool:
        """Paint rows of a widget into the next frame; False if Textual has to paint them."""
        screen = _free_screen(self)
        region = self._uncovered_rows.region_of(widget, screen) if screen is not None else None
        if region is None:
            return False
        visible_rows = [y for y in rows if 0 <= y < region.height]
        strips = widget.strips_of(visible_rows)
        x, width, back, styles, maker = (
            region.x, region.width, self._cells.back, self._cells.styles, self._cells.maker
        )  # fmt: skip
        try:
            for y, strip in zip(visible_rows, strips, strict=True):
                paint_strip(strip, width, region.y + y, x, back, styles, maker)
        except Exception as error:  # noqa: BLE001 - a wrong picture must not end a session
            self.leave_to_textual(error)
            return False
        self._plan_frame()
        return True

    def show_prompt_first(self, screen: Screen[Any]) -> None:
        """After a resize, show the focused widget at once if a key changed it.

        All other rows follow when Textual has rendered them, which takes much longer.
        """
        widget, cells = screen.focused, self._cells
        if (
            self.discrete_input_pending
            and isinstance(widget, DrawsRows)
            and self._uses_cells
            and self._may_write()
            # Not for the first frame, nor in the inline mode's normal screen.
            and cells.size
            and cells.is_alternate
            and cells.resize(self.size)
        ):
            self._lacks_rows = True
            if self.paint_rows(widget, range(widget.size.height)):
                self.present_safely(screen)

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        if self._is_left_to_textual:
            self._is_left_to_textual = False
            if renderable is None and self._may_write():
                # Textual draws nothing, because what changed is not visible.
                self.present_safely(screen)

    def _plan_frame(self) -> None:
        """Schedule a frame after the callbacks that are ready now."""
        if not self.frame_is_planned:
            self.frame_is_planned = True
            asyncio.get_running_loop().call_soon(self._show_frame, _PATIENCE)

    def _show_frame(self, patience: int) -> None:
        self.frame_is_planned = False
        if not self._uses_cells or not self._may_write() or not self.screen_stack:
            return
        screen = self.screen_stack[-1]
        flags = (screen._layout_required, screen._scroll_required, screen._repaint_required)
        if any(flags) or screen._dirty_widgets:
            # Textual is about to draw a frame, which shows these rows, too.
            self._is_left_to_textual = True
            return
        if patience and is_settling(screen):
            # Wait, so that related changes are shown in one frame.
            self.frame_is_planned = True
            asyncio.get_running_loop().call_soon(self._show_frame, patience - 1)
            return
        # Without `post_display_hook`, by which the bus measures resizes.
        if self.present_safely(screen):
            self.discrete_input_pending = False


def _free_screen(app: DirectRows[Any]) -> Screen[Any] | None:
    """Return the screen if it is the only one and has no pending layout; otherwise None."""
    driver = app._driver
    may_paint = (
        app._uses_cells
        and driver is not None
        and not driver.is_inline
        and app._may_write()
        and not app._cells.styles.is_full
    )
    if not may_paint or len(app.screen_stack) != 1:
        return None
    screen = app.screen_stack[0]
    is_free = (
        app._cells.size == app.size == screen.size
        and not screen._layout_required
        and not screen._scroll_required
        and not screen._repaint_required
    )
    return screen if is_free else None


def is_settling(screen: Screen[Any]) -> bool:
    """Whether widgets have requested an update that the screen has not processed yet."""
    # A message may have left the queue but wait until the previous one is handled.
    return (
        screen.message_queue_size > 0
        or screen._pending_message is not None
        or any(child._layout_required or child._repaint_required for child in screen.children)
    )


def _uncovered_widgets(visible: dict[Widget, tuple[Region, Region]]) -> dict[Widget, Region]:
    """Return the widgets that are completely visible and overlap no other widget.

    `visible` is in painting order, front to back.
    """
    widgets = [
        (widget, region, clip)
        for widget, (region, clip) in visible.items()
        # Textual reports that widgets without an area overlap those that they touch.
        if region.area and not isinstance(widget, Screen)
    ]
    return {
        widget: region
        for widget, region, clip in widgets
        if isinstance(widget, DrawsRows)
        and clip.contains_region(region)
        and not any(
            other is not widget and other_region.overlaps(region)
            for other, other_region, _ in widgets
        )
    }
