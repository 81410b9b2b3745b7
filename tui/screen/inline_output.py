"""The inline mode of an app: finished rows stay in the terminal's scrollback.

The alternate screen is used only while something needs the whole window. Otherwise the mouse is
left to the terminal, for scrolling and selecting.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tui.screen.inline_frame import InlineContent, InlineFrame
from tui.screen.output_stream import terminal_size
from tui.screen.presenter import CellOutput

PRIVATE_NAMES: Final = {"textual.app.App": ("_driver", "_exit")}
"""Private names of Textual that this module uses."""

_CUTTING_TERMS: Final = ("linux", "rxvt")
"""Beginnings of TERM for terminals that cut off rows when the window becomes narrower."""


class InlineOutput:
    """Shows an app inline; to be made before it runs."""

    def __init__(
        self, app: CellOutput[Any], content: InlineContent, env: Mapping[str, str]
    ) -> None:
        """Start at the cursor's row. `env` identifies the terminal."""
        self._app = app
        self._content = content
        self._wants_whole_window = False
        self._frame = InlineFrame(
            content,
            reflows=reflows(env),
            terminal_size=lambda: None if app.is_headless else terminal_size(),
        )
        app.use_frame(self._frame, lambda: self.use_whole_window(True))

    def mark_started(self) -> None:
        """Note that the app runs; it can be suspended from now on."""
        # Suspending leaves the alternate screen: enter it again if it is needed.
        self._app.app_resume_signal.subscribe(
            self._app, lambda _app: self.use_whole_window(self._wants_whole_window), True
        )

    def use_whole_window(self, is_wanted: bool) -> None:
        """Show whole frames on the alternate screen, or go back to the normal screen."""
        frame, self._wants_whole_window = self._frame, is_wanted
        if frame.is_alternate is is_wanted:
            return
        driver: Any = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(frame.use_alternate() if is_wanted else frame.use_normal())
            # Only our own driver can switch the mouse while it runs.
            if (take_mouse := getattr(driver, "take_mouse", None)) is not None:
                take_mouse(is_wanted)
        self._content.show_whole(is_wanted)
        for screen in self._app.screen_stack:
            screen.refresh(layout=True)

    def at_stop(self) -> str:
        """Return codes that erase the redrawn rows; at exit, codes that write all content."""
        return self._frame.finish() if self._app._exit else self._frame.leave()


def reflows(env: Mapping[str, str]) -> bool:
    """Whether the terminal wraps rows when its window becomes narrower.

    Most do; xterm, rxvt, the Linux console and GNU screen cut them off.
    """
    if env.get("TMUX"):
        return True
    term = env.get("TERM", "")
    return not (env.get("XTERM_VERSION") or env.get("STY") or term.startswith(_CUTTING_TERMS))
