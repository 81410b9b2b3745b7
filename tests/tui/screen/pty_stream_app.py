"""A program for tests in a pseudo-terminal that draws faster than a slow line takes."""

from __future__ import annotations

import os
import random
from pathlib import Path

from textual.app import ComposeResult
from textual.widgets import Static

from tui.input.routed_app import RoutedApp
from tui.screen.presenter import CellOutput

TICKS = 120


class StreamApp(CellOutput[int], RoutedApp[int]):
    """Redraws all of the screen at every tick; then says how that went."""

    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        yield Static("ready", id="text", markup=False)

    def on_key(self) -> None:
        self._dice = random.Random(1)
        self._ticks = 0
        self._clock = self.set_interval(1 / 60, self.draw)

    def draw(self) -> None:
        self._ticks += 1
        text = self.query_one("#text", Static)
        if self._ticks < TICKS:
            noise = "".join(self._dice.choices("abcdefghij", k=3000))
            text.update(f"tick {self._ticks} {noise}")
            return
        self._clock.stop()
        figures = self.frame_writer.figures()
        assert figures is not None
        text.update(
            f"done coalesced={figures.coalesced_frames > 0} slow={self.output_is_slow} "
            f"few={figures.total_frames < TICKS // 2}"
        )
        Path(os.environ["DONE_FILE"]).touch()


if __name__ == "__main__":
    StreamApp().run()
