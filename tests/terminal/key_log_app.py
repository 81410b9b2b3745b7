"""A program that writes the name of each key that its terminal sends into a file."""

from __future__ import annotations

import sys
from pathlib import Path

from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.key_names import canonical_key
from tui.input.routed_app import RoutedApp
from tui.screen.presenter import CellOutput


class KeyLogApp(CellOutput[None], RoutedApp[None]):
    ENABLE_COMMAND_PALETTE = False

    def on_mount(self) -> None:
        self.router.reserve("ctrl+c", self.note)
        self.router.reserve("ctrl+d", self.note)
        self.router.listen(self, Phase.CAPTURE, self.note, (EventKind.KEY,))
        self.say("ready")

    def note(self, event: RoutedEvent) -> None:
        event.claim()
        self.say(canonical_key(event.text if len(event.text) == 1 else event.key))

    def say(self, text: str) -> None:
        with Path(sys.argv[1]).open("a") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    KeyLogApp().run()
