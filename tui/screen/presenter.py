"""Replaces Textual's output by the cell layer: every frame of every screen passes here.

The private names of Textual's output that it uses are listed in `PRIVATE_NAMES`, and a contract
test fails when one is missing. `AGENT_TUI_RENDERER=textual` leaves the output to Textual.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

from rich.console import RenderableType
from textual import events, log
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.screen import Screen

from tui.screen.cell_frame import CellFrame
from tui.screen.crash import CrashReport
from tui.screen.encode import SYNC_END, SYNC_START
from tui.screen.frame_writer import FrameWriter
from tui.screen.immediate_screen import ImmediateScreen
from tui.screen.sixel_layer import SixelLayer

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.app.App": (
        "_batch_count",
        "_closed",
        "_display",
        "_driver",
        "_running",
        "_sync_available",
    ),
    "textual._compositor.LayoutUpdate": ("strips", "region"),
    "textual._compositor.ChopsUpdate": ("chops", "spans", "chop_ends"),
}
"""Private names of Textual that this module uses."""

RENDERER_VARIABLE: Final = "AGENT_TUI_RENDERER"

_UNBRACKETED_CHARACTERS: Final = 64
"""Maximum length of a frame that is written without a synchronized-output bracket (16 bytes)."""


class CellOutput(CrashReport[ReturnType], Generic[ReturnType]):
    """An app that writes only the cells that changed; put it before the other base classes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._uses_cells = os.environ.get(RENDERER_VARIABLE, "").lower() != "textual"
        self._cells = CellFrame()
        self.frame_writer = FrameWriter(self, lambda: self._encode(), self._may_write)
        self._lacks_rows = False
        """Whether rows were painted at a size for which there was no update of Textual yet."""
        self.shows_caret = False
        """Whether the terminal's cursor is shown, at `cursor_position`."""
        self._on_failure: Callable[[], None] = lambda: None

    def get_default_screen(self) -> Screen[Any]:
        """Return a screen that shows the effect of discrete input at once."""
        return ImmediateScreen(id="_default")

    # Public interface

    def use_frame(self, frame: CellFrame, on_failure: Callable[[], None]) -> None:
        """Use another kind of frame; `on_failure` is called if the output is left to Textual."""
        self._cells = frame
        self._on_failure = on_failure

    @property
    def sixels(self) -> SixelLayer:
        """The images that are drawn over cells."""
        return self._cells.sixels

    def invalidate_screen(self) -> None:
        """Write the whole frame again, without clearing the screen first.

        For Ctrl+L and after something else wrote to the terminal. Nothing is laid out or rendered
        again.
        """
        self._cells.forget_terminal()
        if not self._may_write():
            return
        if self._uses_cells:
            self.frame_writer.write()
        else:
            self.refresh()

    @property
    def output_is_slow(self) -> bool:
        """Whether the connection to the terminal is slow, so that animation should stop."""
        return self.frame_writer.is_slow

    # Overrides of Textual's methods, and output

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        update: object = renderable
        driver = self._driver
        if (
            not self._uses_cells
            or not isinstance(update, (LayoutUpdate, ChopsUpdate))
            or driver is None
            or driver.is_inline
        ):
            if renderable is not None:
                self._cells.forget_terminal()
            super()._display(screen, renderable)
            return
        try:
            if self._may_write():
                self._paint(screen, update)
                self.frame_writer.write()
        except Exception as error:  # noqa: BLE001 - a wrong picture must not end a session
            self.leave_to_textual(error)
            super()._display(screen, renderable)
            screen.refresh()
        else:
            self.post_display_hook()

    def present_safely(self, screen: Screen[Any]) -> bool:
        """Write the painted frame; False if that failed and Textual takes over the output."""
        try:
            self.frame_writer.write()
        except Exception as error:  # noqa: BLE001 - a wrong picture must not end a session
            self.leave_to_textual(error)
            screen.refresh()
        return self._uses_cells

    def leave_to_textual(self, error: Exception) -> None:
        """Leave the output to Textual for the rest of the session, which the error must not end."""
        log.error(f"cell output failed, leaving it to Textual: {error!r}")
        self._uses_cells = False
        self._on_failure()

    def _paint(self, screen: Screen[Any], update: CompositorUpdate) -> None:
        if self._cells.use_colors(self.console.color_system):
            self.screen.refresh()
        is_resized = self._cells.resize(self.size) or self._lacks_rows
        self._lacks_rows = False
        if is_resized and not isinstance(update, LayoutUpdate):
            # A partial update does not contain all cells of the new size.
            screen.refresh()
        self._cells.paint(update)

    def _encode(self) -> str:
        caret = self.screen.outer_size.clamp_offset(self.cursor_position)
        data = self._cells.encode(caret, shows_caret=self.shows_caret)
        if self._sync_available and len(data) > _UNBRACKETED_CHARACTERS:
            data = f"{SYNC_START}{data}{SYNC_END}"
        return data

    def _may_write(self) -> bool:
        return self._running and not self._closed and not self._batch_count

    # Textual calls the handlers of every class in the method resolution order.

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        # Some terminals report the focus as soon as reports are enabled: no content was lost then.
        if not self.app_focus:
            self.invalidate_screen()

    async def _on_resize(self, event: events.Resize) -> None:
        # A window that shrank and grew back before a frame has lost what was cut off, and Textual
        # does not lay out again for the same size.
        if event.size in (self.size, self._cells.size):
            self.invalidate_screen()

    def _on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _app: self.invalidate_screen(), True)
