"""The screen's appearance: theme, colors of code and prompt, detail of the transcript."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from textual.app import App

from themes.theme import Role, Theme
from tui.text.highlight import Highlighter
from tui.theme.theme_choice import ThemeChoice
from tui.theme.theme_palette import Palette, textual_theme
from tui.transcript.transcript_widget import TranscriptWidget


class Appearance:
    """Implements `tui.ports.command_screen.AppearanceControl`."""

    def __init__(
        self,
        app: App[Any],
        theme: Theme,
        wanted_theme: str,
        *,
        is_dark: bool | None,
        color_count: int,
        themes_dir: tuple[Path, ...],
        no_color: bool,
        is_inline: bool,
        transcript: TranscriptWidget,
        highlighter: Highlighter,
        warn: Callable[[str], None],
        show_lines: Callable[[], None],
    ) -> None:
        """`theme` is that of the first frame; `show_lines` redraws the lines around the prompt.

        In the inline mode the background is the terminal's, as for the rows above.
        """
        self._app = app
        self._no_color = no_color
        self._is_inline = is_inline
        self._transcript = transcript
        self._highlighter = highlighter
        self._show_lines = show_lines
        self.themes_dir = themes_dir
        self.themes = ThemeChoice(
            wanted_theme or theme.name,
            theme,
            themes_dir=themes_dir,
            is_dark=is_dark,
            color_count=color_count,
            use=self.use_theme,
            notify=warn,
        )
        self.prompt_role = Role.FAINT
        """Color of the lines around the prompt, unless the permission mode has its own."""
        self._register(theme)

    def _register(self, theme: Theme) -> None:
        self.theme = theme
        if self._is_inline:
            theme = replace(theme, roles={**theme.roles, Role.BACKGROUND: "default"})
        self.palette = Palette(theme, no_color=self._no_color)
        self._app.register_theme(textual_theme(theme))
        self._app.theme = f"agent-{theme.name}"

    @property
    def wanted_theme(self) -> str:
        """The user's choice: a theme's name, or `auto`."""
        return self.themes.theme_name

    def choose_theme(self, name: str) -> None:
        """Use the named theme from now on; `auto` follows the terminal's background."""
        self.themes.choose(name)

    def use_theme(self, theme: Theme) -> None:
        """Redraw everything with another theme."""
        self._register(theme)
        self._transcript.palette_changed()
        screen = self._app.screen_stack[0]
        screen.refresh(layout=True)
        for widget in screen.query("*"):
            widget.refresh()

    @property
    def colors_code(self) -> bool:
        """Whether syntax highlighting is on."""
        return self._highlighter.is_on

    def color_code(self, is_on: bool) -> None:
        """Turn syntax highlighting on or off."""
        self._highlighter.is_on = is_on
        self._transcript.code_changed()

    def color_prompt(self, role: Role) -> None:
        """Draw the lines around the prompt in a color of the theme, for this session."""
        self.prompt_role = role
        self._show_lines()

    def toggle_focus(self) -> bool:
        """Switch between one line per call and the previous detail; return whether it is on."""
        return self._transcript.toggle_focus()
