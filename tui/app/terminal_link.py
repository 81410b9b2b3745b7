"""Terminal output apart from frames (title, bell, clipboard), and the terminal's replies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from textual.app import App
from textual.driver import Driver

from tui.images.image_support import image_query, support_from_reply
from tui.images.inline_images import InlineImages
from tui.input.driver import InputDriver
from tui.screen.inline_frame import ALTERNATE_SCREEN, NORMAL_SCREEN
from tui.screen.inline_output import InlineOutput
from tui.screen.width import measure_by_code_point
from tui.terminal.background import ASK, FOLLOW, UNFOLLOW, dark_from_reply, is_color_change
from tui.terminal.bell import ASK_FOCUS
from tui.terminal.title import TerminalTitle
from tui.terminal.width_probe import PROBE, width_from_reply
from tui.theme.theme_choice import ThemeChoice


class TerminalLink:
    """Writes sequences that do not move the cursor; nothing if the app is headless."""

    def __init__(
        self,
        app: App[Any],
        driver: Callable[[], Driver | None],
        env: Mapping[str, str],
        agent_home: Path | None,
        inline: InlineOutput | None,
        images: InlineImages,
    ) -> None:
        """`env` describes the terminal; it is also the environment of clipboard programs."""
        self.inline = inline
        self.images = images
        self._app = app
        self._driver = driver
        self._env = env
        self._agent_home = agent_home

    def write(self, sequence: str) -> None:
        """Write a bell, a title or a notification."""
        driver = self._driver()
        if driver is not None and not self._app.is_headless:
            driver.write(sequence)

    def start(self, window: TerminalTitle) -> None:
        """Query the terminal's background and widths; restore the window's title at the end."""
        driver, inline = self._driver(), self.inline
        if isinstance(driver, InputDriver):
            driver.at_start = lambda: window.at_start + FOLLOW
            driver.at_stop = lambda: (
                (inline.at_stop() if inline is not None else "")
                + self.images.at_stop()
                + window.at_stop
                + UNFOLLOW
            )
        probe = PROBE
        if inline is not None:
            inline.mark_started()
            # On the normal screen the probe would overwrite rows of other programs.
            probe = f"{ALTERNATE_SCREEN}{PROBE}{NORMAL_SCREEN}"
        else:
            # Colors encode image numbers; and finished rows are not redrawn after loading.
            has_colors = self._app.console.color_system == "truecolor"
            probe += image_query(self._env) if has_colors else ""
        self.write(ASK + FOLLOW + ASK_FOCUS + probe)

    def on_reply(self, text: str, themes: ThemeChoice, lay_out: Callable[[], None]) -> None:
        """Apply a reply about the background, or about the width of characters."""
        drawn = width_from_reply(text)
        if drawn is not None:
            if not drawn.is_joined and measure_by_code_point(drawn.what):
                lay_out()
            return
        support = support_from_reply(text, self.images.support)
        if support is not None:
            self.images.take(support)
            return
        is_dark = dark_from_reply(text)
        if is_dark is not None:
            themes.background(is_dark)
            if self._agent_home is not None:
                from tui.theme.theme_files import remember_background  # with the first reply

                remember_background(self._agent_home, is_dark)
        elif is_color_change(text):
            self.write(ASK)

    async def copy(self, text: str, hint: Callable[[str], None]) -> None:
        """Copy text by available clipboard programs, in addition to the terminal's sequence."""
        from tui.terminal.clipboard import copy_beside, for_gnu_screen  # with the first copy

        home = self._agent_home
        if self._env.get("STY"):
            self.write(for_gnu_screen(text))
        if message := await copy_beside(text, self._env, home / "copied.txt" if home else None):
            hint(message)
