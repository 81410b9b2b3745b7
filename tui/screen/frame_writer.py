"""Writes frames to the terminal; while it is busy, a newer frame replaces the waiting one."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from textual.app import App

from tui.screen.line_pacing import LinePacing, line_speed
from tui.screen.output import TerminalOutput
from tui.screen.output_stats import OutputStats, figures_text

PRIVATE_NAMES: Final = {"textual.app.App": ("_driver", "_loop")}
"""Private names of Textual that this module uses."""


class FrameWriter:
    """Writes frames one by one; at most one frame waits."""

    def __init__(
        self, app: App[Any], encode: Callable[[], str], may_write: Callable[[], bool]
    ) -> None:
        """`encode` returns the escape codes of a frame; it is called when the frame is written."""
        self._app = app
        self._encode = encode
        self._may_write = may_write
        self._pace = LinePacing(line_speed(os.environ), time.monotonic)
        self._is_waiting = False

    @property
    def output(self) -> TerminalOutput | None:
        """The output of our driver; None for Textual's own drivers (headless, web and others)."""
        output = getattr(self._app._driver, "output", None)
        return output if isinstance(output, TerminalOutput) else None

    @property
    def is_slow(self) -> bool:
        """Whether the connection to the terminal is slow, so that animation should stop."""
        output = self.output
        return self._pace.is_slow or (
            output is not None and (output.is_busy or output.meter.is_slow)
        )

    def figures(self) -> OutputStats | None:
        """Return the figures of the terminal's output; None without a terminal."""
        return self.output.meter.figures() if self.output is not None else None

    def figures_line(self) -> str:
        """Return the figures as one line; "" without a terminal."""
        figures = self.figures()
        return figures_text(figures) if figures is not None else ""

    def write(self) -> None:
        """Write what changed since the last frame, at once or when the terminal is ready."""
        app, output = self._app, self.output
        wait_s = self._pace.wait_s
        if wait_s > 0 or (output is not None and output.is_busy):
            self._wait(output, wait_s)
            return
        self._is_waiting = False
        data = self._encode()
        if data and app._driver is not None and not app.is_headless:
            app._driver.write(data)
            app._driver.flush()
            if self._pace.is_slow:
                self._pace.record_sent(len(data.encode("utf-8", "replace")))
            if output is not None:
                output.meter.frame()

    def _wait(self, output: TerminalOutput | None, wait_s: float) -> None:
        if self._is_waiting:
            if output is not None:
                output.meter.count_coalesced()
            return
        self._is_waiting = True
        if wait_s > 0:
            asyncio.get_running_loop().call_later(wait_s, self._write_waiting)
        elif output is not None:
            output.call_when_drained(self._on_drained)

    def _on_drained(self) -> None:
        """Write the waiting frame; called by the output's thread when its queue is empty."""
        # The loop may be closed by the time of this call.
        loop = self._app._loop
        if loop is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._write_waiting)

    def _write_waiting(self) -> None:
        is_waiting, self._is_waiting = self._is_waiting, False
        if is_waiting and self._may_write():
            self.write()
