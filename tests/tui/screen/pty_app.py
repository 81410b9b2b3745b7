"""A small program for tests in a pseudo-terminal: text above, a field below."""

from __future__ import annotations

import sys
from typing import Any

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Input, Static

from tui.input.event import RoutedEvent
from tui.input.routed_app import RoutedApp
from tui.screen.presenter import CellOutput


class PtyApp(CellOutput[int], RoutedApp[int]):
    CSS = "VerticalScroll { height: 1fr; } #status { height: 1; }"
    ENABLE_COMMAND_PALETTE = False

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            for number in range(60):
                yield Static(f"line {number} " + "word 好 " * (number % 11))
        field = Input()
        field.cursor_blink = False
        yield field
        yield Static("ready", id="status")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self.router.reserve("ctrl+d", self.leave)

    def leave(self, event: RoutedEvent) -> None:
        event.claim()
        self.exit(return_code=7)

    def on_input_changed(self, event: Input.Changed) -> None:
        if event.value == "boom":
            key = "a word "
            key += "nobody sees"
            raise RuntimeError("boom")
        self.query_one("#status", Static).update(f"<{event.value}> {self.size.width}")

    def on_key(self, event: Any) -> None:
        view = self.query_one(VerticalScroll)
        match event.key:
            case "up" | "down":
                view.scroll_relative(
                    y=-1 if event.key == "up" else 1, animate=False, immediate=True
                )
            case "f4":
                view.scroll_end(animate=False, immediate=True)
            case "f6":
                with self.suspend():
                    print("another program", flush=True)
            case "f5":
                self.query_one("#status", Static).update(f"at {view.scroll_y}")


if __name__ == "__main__":
    app = PtyApp()
    app.run()
    sys.exit(app.return_code or 0)
