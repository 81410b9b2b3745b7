"""The inline mode of an app: what is finished stays in the terminal's scrollback.

The alternate screen is taken only while something wants all of the window. The mouse is the
terminal's own otherwise, for its scrollback and its selection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tui.screen.inline_frame import InlineContent, InlineFrame
from tui.screen.output_stream import terminal_size
from tui.screen.presenter import CellOutput

PRIVATE_NAMES: Final = {"textual.app.App": ("_driver", "_exit")}
"""What this module uses of Textual that Textual does not promise."""

_CUTTING_TERMS: Final = ("linux", "rxvt")
"""Values of TERM, by their beginning, of terminals that cut rows."""


class InlineOutput:
    """Shows an app inline; to be made before it runs."""

    def __init__(
        self, app: CellOutput[Any], content: InlineContent, env: Mapping[str, str]
    ) -> None:
        """Begin at the cursor's row. `env` identifies the terminal."""
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
        """The app runs."""
        # A suspension leaves the alternate screen.
        self._app.app_resume_signal.subscribe(
            self._app, lambda _app: self.use_whole_window(self._wants_whole_window), True
        )

    def use_whole_window(self, is_wanted: bool) -> None:
        """Show whole frames on the alternate screen, or go back to the rows in the scrollback."""
        frame, self._wants_whole_window = self._frame, is_wanted
        if frame.is_alternate is is_wanted:
            return
        driver: Any = self._app._driver
        if driver is not None and not self._app.is_headless:
            driver.write(frame.use_alternate() if is_wanted else frame.use_normal())
            # Only our own driver can while it runs.
            if (take_mouse := getattr(driver, "take_mouse", None)) is not None:
                take_mouse(is_wanted)
        self._content.show_whole(is_wanted)
        for screen in self._app.screen_stack:
            screen.refresh(layout=True)

    def at_stop(self) -> str:
        """Return what removes the rows that are redrawn; at the end, what writes all for good."""
        return self._frame.finish() if self._app._exit else self._frame.leave()


def reflows(env: Mapping[str, str]) -> bool:
    """Whether the terminal wraps rows that a narrower window cannot hold.

    Most do; xterm, rxvt, the Linux console and GNU screen cut them.
    """
    if env.get("TMUX"):
        return True
    term = env.get("TERM", "")
    return not (env.get("XTERM_VERSION") or env.get("STY") or term.startswith(_CUTTING_TERMS))
