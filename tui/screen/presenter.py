"""Where the cell layer hangs below Textual: every frame of every screen passes here.

The only module that knows Textual's private names of the output side; they are listed in
`PRIVATE_NAMES` and a contract test fails when one moves. `AGENT_TUI_RENDERER=textual` leaves the
output to Textual.
"""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from rich.color import ColorSystem
from rich.console import RenderableType
from textual import events, log
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.screen import Screen

from tui.screen.cell import CellMaker
from tui.screen.cell_diff import compute_diff, shifted_rows
from tui.screen.crash import CrashReport
from tui.screen.encode import (
    CURSOR_HIDDEN,
    CURSOR_SHOWN,
    SYNC_END,
    SYNC_START,
    TerminalState,
    emit_escape_codes,
    move_cursor,
)
from tui.screen.immediate_screen import ImmediateScreen
from tui.screen.line_pacing import LinePacing, line_speed
from tui.screen.output import TerminalOutput
from tui.screen.output_stats import OutputStats, told
from tui.screen.paint import paint_update
from tui.screen.screen_buffer import ScreenBuffer
from tui.screen.style import StyleTable

ReturnType = TypeVar("ReturnType")

PRIVATE_NAMES: Final = {
    "textual.app.App": (
        "_batch_count",
        "_closed",
        "_display",
        "_driver",
        "_loop",
        "_running",
        "_sync_available",
    ),
    "textual._compositor.LayoutUpdate": ("strips", "region"),
    "textual._compositor.ChopsUpdate": ("chops", "spans", "chop_ends"),
}
"""What this module uses of Textual that Textual does not promise."""

RENDERER_VARIABLE: Final = "AGENT_TUI_RENDERER"

_UNBRACKETED_CHARACTERS: Final = 64
"""Longest frame written without a synchronised-output bracket, which costs 16 bytes."""

# Terminals known to erase with the current background colour, by the beginning of TERM. GNU
# screen does not unless told to; on anything unknown coloured spaces are written out.
_ERASING_TERMS: Final = (
    "xterm", "tmux", "kitty", "xterm-kitty", "alacritty", "foot", "wezterm", "rxvt", "st-", "linux",
    "konsole", "vte", "gnome", "ghostty", "contour", "iterm",
)  # fmt: skip

_COLOR_SYSTEMS: Final = {
    "standard": ColorSystem.STANDARD,
    "256": ColorSystem.EIGHT_BIT,
    "truecolor": ColorSystem.TRUECOLOR,
    "windows": ColorSystem.WINDOWS,
}


class CellOutput(CrashReport[ReturnType], Generic[ReturnType]):
    """An app that writes only the cells that changed; put it before the other base classes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._uses_cells = os.environ.get(RENDERER_VARIABLE, "").lower() != "textual"
        self._front = ScreenBuffer(0, 0)
        self._back = ScreenBuffer(0, 0)
        self._maker = CellMaker()
        self._styles = StyleTable(ColorSystem.TRUECOLOR)
        self._terminal = TerminalState(0)
        self._pace = LinePacing(line_speed(os.environ), time.monotonic)
        self._frame_is_owed = False
        self._caret_shown: bool | None = None
        self.shows_caret = False
        """Whether the terminal's own cursor is shown where `cursor_position` is."""

    def get_default_screen(self) -> Screen[Any]:
        """Return a screen that draws discrete input at once."""
        return ImmediateScreen(id="_default")

    # Public face

    def invalidate_screen(self) -> None:
        """Write the whole frame again, over what is there, without clearing first.

        For Ctrl+L and whenever something else wrote to the terminal. Nothing is laid out or
        rendered anew.
        """
        self._forget_terminal()
        if not self._may_write():
            return
        if self._uses_cells:
            self._present()
        else:
            self.refresh()

    def output_figures(self) -> OutputStats | None:
        """Return the figures of the terminal's output; None where there is no terminal."""
        output = self._output
        return output.meter.figures() if output is not None else None

    def output_line(self) -> str:
        """Return the figures of the terminal's output in a line; empty where there is none."""
        figures = self.output_figures()
        return told(figures) if figures is not None else ""

    @property
    def output_is_slow(self) -> bool:
        """Whether the line to the terminal is slow, so that animation should stop."""
        output = self._output
        return self._pace.is_slow or (
            output is not None and (output.is_busy or output.meter.is_slow)
        )

    # Textual's side

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        if not self._takes(renderable):
            if renderable is not None:
                self._forget_terminal()
            super()._display(screen, renderable)
            return
        try:
            if self._may_write():
                self._paint(screen, renderable)
                self._present()
        except Exception as error:  # noqa: BLE001 - a wrong picture must not end a session
            self.leave_to_textual(error)
            super()._display(screen, renderable)
            screen.refresh()
        else:
            self.post_display_hook()

    def present_safely(self, screen: Screen[Any]) -> bool:
        """Write what was painted into the frame; False when the output is Textual's from now on."""
        try:
            self._present()
        except Exception as error:  # noqa: BLE001 - a wrong picture must not end a session
            self.leave_to_textual(error)
            screen.refresh()
        return self._uses_cells

    def leave_to_textual(self, error: Exception) -> None:
        """Write no more cells in this session: something failed that must not end it."""
        log.error(f"cell output failed, leaving it to Textual: {error!r}")
        self._uses_cells = False

    def _takes(self, renderable: object) -> bool:
        driver = self._driver
        return (
            self._uses_cells
            and isinstance(renderable, (LayoutUpdate, ChopsUpdate))
            and driver is not None
            and not driver.is_inline
        )

    def _paint(self, screen: Screen[Any], renderable: object) -> None:
        assert isinstance(renderable, CompositorUpdate)
        width, height = self.size
        self._adapt_colors()
        if self._back.resize(width, height):
            self._front.resize(width, height)
            self._terminal = TerminalState(
                width,
                fills_background=os.environ.get("TERM", "").startswith(_ERASING_TERMS),
            )
            if not isinstance(renderable, LayoutUpdate):
                # What this update leaves out is unknown at the new size.
                screen.refresh()
        paint_update(renderable, self._back, self._styles, self._maker)

    def _adapt_colors(self) -> None:
        color_system = _COLOR_SYSTEMS.get(self.console.color_system or "", ColorSystem.TRUECOLOR)
        if self._styles.color_system is color_system and not self._styles.is_full:
            return
        if self._styles.is_full:
            log.warning("the style table is full and starts afresh")
        self._styles = StyleTable(color_system)
        self._maker = CellMaker()
        self._back.invalidate()
        self._forget_terminal()
        self.screen.refresh()

    def _present(self) -> None:
        """Write what changed since the last frame, or owe it when the terminal is busy."""
        output = self._output
        wait_s = self._pace.wait_s
        if wait_s > 0 or (output is not None and output.is_busy):
            self._owe_frame(output, wait_s)
            return
        self._frame_is_owed = False
        data = self._encode()
        if data and self._driver is not None and not self.is_headless:
            self._driver.write(data)
            self._driver.flush()
            if self._pace.is_slow:
                self._pace.sent(len(data.encode("utf-8", "replace")))
            if output is not None:
                output.meter.frame()

    def _owe_frame(self, output: TerminalOutput | None, wait_s: float) -> None:
        """Leave the frame for when the line is free; newer ones take its place until then."""
        if self._frame_is_owed:
            if output is not None:
                output.meter.coalesced()
            return
        self._frame_is_owed = True
        if wait_s > 0:
            asyncio.get_running_loop().call_later(wait_s, self._pay_frame)
        elif output is not None:
            output.call_when_drained(self._pay_frame_soon)

    def _encode(self) -> str:
        diff = compute_diff(self._front, self._back)
        data = emit_escape_codes(diff, self._terminal, self._styles)
        if diff.shift is not None:
            self._front.rows = shifted_rows(self._front, diff.shift)
        for run in diff.runs:
            self._front.rows[run.y] = self._back.rows[run.y].copy()
        data += self._place_caret()
        if self._sync_available and len(data) > _UNBRACKETED_CHARACTERS:
            data = f"{SYNC_START}{data}{SYNC_END}"
        return data

    def _place_caret(self) -> str:
        """Move the cursor to the caret: input methods open their window there."""
        if not self._back.width or not self._back.height:
            return ""
        x, y = self.screen.outer_size.clamp_offset(self.cursor_position)
        code = move_cursor(
            min(max(x, 0), self._back.width - 1), min(max(y, 0), self._back.height - 1),
            self._terminal,
        )  # fmt: skip
        if self._caret_shown is not self.shows_caret:
            code += CURSOR_SHOWN if self.shows_caret else CURSOR_HIDDEN
            self._caret_shown = self.shows_caret
        return code

    def _pay_frame_soon(self) -> None:
        """Called by the writing thread when the terminal has taken everything."""
        # The loop may close between the last write and this call.
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._pay_frame)

    def _pay_frame(self) -> None:
        is_owed, self._frame_is_owed = self._frame_is_owed, False
        if is_owed and self._may_write():
            self._present()

    def _may_write(self) -> bool:
        return self._running and not self._closed and not self._batch_count

    def _forget_terminal(self) -> None:
        self._front.invalidate()
        self._terminal.forget()
        self._caret_shown = None

    @property
    def _output(self) -> TerminalOutput | None:
        # Only our own driver has one; headless, web and stock drivers do not.
        output = getattr(self._driver, "output", None)
        return output if isinstance(output, TerminalOutput) else None

    # Textual calls the handlers of every class in the resolution order.

    async def _on_app_focus(self, event: events.AppFocus) -> None:
        # Some terminals report the focus as soon as they are asked to: nothing was lost then.
        if not self.app_focus:
            self.invalidate_screen()

    async def _on_resize(self, event: events.Resize) -> None:
        # A window that shrank and grew back within one report, or before a frame, has lost what was
        # cut off, and nothing is laid out for a size that is known.
        if event.size in (self.size, (self._back.width, self._back.height)):
            self.invalidate_screen()

    def _on_mount(self) -> None:
        self.app_resume_signal.subscribe(self, lambda _app: self.invalidate_screen(), True)
