"""Writes frames to the terminal, or later when it is busy: newer frames replace those that wait."""

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
"""What this module uses of Textual that Textual does not promise."""


class FrameWriter:
    """At most one frame waits."""

    def __init__(
        self, app: App[Any], encode: Callable[[], str], may_write: Callable[[], bool]
    ) -> None:
        """`encode` returns what a frame changes; it is called when that is written."""
        self._app = app
        self._encode = encode
        self._may_write = may_write
        self._pace = LinePacing(line_speed(os.environ), time.monotonic)
        self._is_waiting = False

    @property
    def output(self) -> TerminalOutput | None:
        """The output of our own driver; headless, web and stock drivers have none."""
        output = getattr(self._app._driver, "output", None)
        return output if isinstance(output, TerminalOutput) else None

    @property
    def is_slow(self) -> bool:
        """Whether the line to the terminal is slow, so that animation should stop."""
        output = self.output
        return self._pace.is_slow or (
            output is not None and (output.is_busy or output.meter.is_slow)
        )

    def figures(self) -> OutputStats | None:
        """Return the figures of the terminal's output; None where there is no terminal."""
        return self.output.meter.figures() if self.output is not None else None

    def figures_line(self) -> str:
        """Return the figures in a line; empty where there is no terminal."""
        figures = self.figures()
        return figures_text(figures) if figures is not None else ""

    def write(self) -> None:
        """Write what changed since the last frame, or later when the terminal is busy."""
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
        """Called by the writing thread when the terminal has taken everything."""
        # The loop may close between the last write and this call.
        loop = self._app._loop
        if loop is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(self._write_waiting)

    def _write_waiting(self) -> None:
        is_waiting, self._is_waiting = self._is_waiting, False
        if is_waiting and self._may_write():
            self.write()
