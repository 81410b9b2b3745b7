"""The user's selection in the transcript: started with the mouse, extended with mouse or keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual import events
from textual.geometry import Region, Size

from tui.input.click_count import ClickCount
from tui.input.event import RoutedEvent
from tui.screen.width import text_width
from tui.transcript.selecting.transcript_selection import (
    Step,
    TranscriptSelection,
    line_around,
    word_at,
)
from tui.transcript.viewport import RowPosition, Viewport


class MarkedWidget(Protocol):
    """The widget that shows the selection; `tui.transcript.transcript_widget` implements it."""

    viewport: Viewport

    @property
    def size(self) -> Size: ...
    @property
    def content_region(self) -> Region: ...
    @property
    def marked_text(self) -> str: ...
    def position_at(self, y: int) -> RowPosition | None: ...
    def to_end(self) -> None: ...
    def update_rows(self) -> None: ...
    def capture_mouse(self, capture: bool = True) -> None: ...


class TranscriptMarker:
    """Handles one selection at a time."""

    def __init__(
        self,
        widget: MarkedWidget,
        copy: Callable[[str], None],
        press: Callable[[RowPosition, int], None],
    ) -> None:
        """Start without a selection; `widget` shows it, `copy` receives its text at the end.

        `press` receives a clicked row, and the cell in it.
        """
        self._widget = widget
        self._copy = copy
        self._press_row = press
        self.selection: TranscriptSelection | None = None
        """None without one; a selection that was just started is empty."""
        self._press_position: RowPosition | None = None
        """Where the button was pressed, as long as this can become a click."""
        self._press_x = 0
        self._clicks = ClickCount()

    def extend(self, step: Step) -> None:
        """Extend or reduce the selection by a cell or row; scrolls if its end leaves the screen."""
        if self.selection is None:
            return
        viewport = self._widget.viewport
        new_selection = self.selection.step(step, viewport.visible())
        if new_selection is None and step in ("up", "down"):
            viewport.scroll(-1 if step == "up" else 1)
            new_selection = self.selection.step(step, viewport.visible())
        self.selection = new_selection or self.selection
        self._widget.update_rows()

    def clear(self) -> None:
        """Clear the selection."""
        self.selection = None
        self._widget.update_rows()

    def on_pointer(self, event: RoutedEvent) -> None:
        """Start, extend or end a selection with the mouse."""
        is_open = self.selection is not None and self.selection.is_open
        match event.message:
            case events.MouseDown(button=1) as message:
                self._press(message)
            case events.MouseMove() as message if is_open and message.button:
                self._drag(message)
            case events.MouseMove() | events.MouseUp() if is_open:
                # A move without a button: it was released outside the window or over a dialog.
                self._release()
            case _:
                return
        event.claim()

    def _press(self, event: events.MouseDown) -> None:
        widget = self._widget
        x, y = self._local(event)
        if y == widget.size.height - 1 and not widget.viewport.is_following:
            widget.to_end()
            return
        place = widget.position_at(y)
        # A click that clears a selection has no other effect.
        self._press_position = place if self.selection is None else None
        self._press_x = x
        count = self._clicks.press(event)
        if place is None:
            self.selection = None
        else:
            if count > 1:
                self._press_position = None
            self.selection = self._selection_of(place, x, count)
            widget.capture_mouse()
        widget.update_rows()

    def _selection_of(self, place: RowPosition, x: int, count: int) -> TranscriptSelection:
        """Return the selection of a click: a cell, a word, or a logical line."""
        viewport = self._widget.viewport
        if count == 1:
            return TranscriptSelection(place, x, place, x, is_open=True)
        if count == 2:
            left, right = word_at(viewport.row(place), x)
            return TranscriptSelection(place, left, place, right, is_open=True)
        first, last = line_around(viewport, place)
        end_x = text_width(viewport.row(last).text)
        return TranscriptSelection(first, 0, last, end_x, is_open=True)

    def _drag(self, event: events.MouseMove) -> None:
        if self._clicks.is_in_cell(event):
            # The pointer has not moved: keep the word or line that was selected.
            return
        widget = self._widget
        x, y = self._local(event)
        if y < 0:
            widget.viewport.scroll(-1)
        elif y >= widget.size.height:
            widget.viewport.scroll(1)
        place = widget.position_at(min(max(y, 0), widget.size.height - 1))
        if place is not None and self.selection is not None:
            self.selection = self.selection.extend_to(place, max(0, x))
        widget.update_rows()

    def _release(self) -> None:
        widget = self._widget
        widget.capture_mouse(False)
        if self.selection is None:
            return
        if self.selection.is_empty:
            self.selection = None
            if self._press_position is not None:
                self._press_row(self._press_position, self._press_x)
        else:
            self.selection = self.selection.release()
            if text := widget.marked_text:
                self._copy(text)
        widget.update_rows()

    def _local(self, event: events.MouseEvent) -> tuple[int, int]:
        region = self._widget.content_region
        return int(event.screen_x) - region.x, int(event.screen_y) - region.y
