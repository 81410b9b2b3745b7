"""Chooses the theme: the one that the user selected, or one that suits the background.

Independent of the screen: takes the selection and the terminal's report, and applies a theme.
Next: `themes.registry` (files), `tui.terminal.background` (dark or light), `tui.theme.theme_files`
(live reload).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from themes.indexed import with_indexed_colors
from themes.registry import DEFAULT_THEME, UserThemes, load_theme
from themes.theme import Theme, ThemeError

AUTO: Final = "auto"
LIGHT: Final = "light"
DARK: Final = "dark"
FEW_COLORS: Final = "ansi16"
FEW_COLORS_LIGHT: Final = "ansi16-light"


class ThemeChoice:
    """The preference, the background, and the theme that follows from both."""

    def __init__(
        self,
        theme_name: str,
        theme: Theme,
        *,
        themes_dir: tuple[Path, ...],
        is_dark: bool | None = None,
        color_count: int = 2**24,
        use: Callable[[Theme], None],
        notify: Callable[[str], None],
    ) -> None:
        """`theme` is already in use; `use` redraws with another one, `notify` shows a warning."""
        self.theme_name = theme_name
        self._theme = theme
        self._themes_dir = themes_dir
        self._is_dark = is_dark
        self._color_count = color_count
        self._use = use
        self._notify = notify

    @property
    def follows_background(self) -> bool:
        """Whether the terminal's background determines the theme."""
        return self.theme_name == AUTO

    def choose(self, name: str) -> None:
        """Use the named theme from now on, or `auto`."""
        if name == self.theme_name:
            # Back from a preview of other themes: the warnings of this one were already shown.
            self._use(self._theme)
            return
        self.theme_name = name
        self.reload(is_new=True)

    def background(self, is_dark: bool) -> None:
        """Apply the background that the terminal reports."""
        if is_dark is not self._is_dark:
            self._is_dark = is_dark
            if self.follows_background:
                self.reload(is_new=True)

    def reload(self, *, is_new: bool = False) -> None:
        """Load the theme again; if that fails, the current one stays."""
        try:
            theme, warnings = load_for_terminal(
                self.theme_name,
                self._is_dark,
                color_count=self._color_count,
                user_dir=self._themes_dir,
            )
        except ThemeError as error:
            self._notify(f"theme: {error}")
            return
        if theme == self._theme and not is_new:
            return
        self._theme = theme
        self._use(theme)
        for warning in warnings:
            self._notify(warning)


def load_for_terminal(
    choice: str, is_dark: bool | None, *, color_count: int, user_dir: UserThemes
) -> tuple[Theme, tuple[str, ...]]:
    """Return the chosen theme in colors that the terminal has, and warnings for users.

    Nearest colors are not enough: text would be unreadable on some backgrounds.

    Raises:
        ThemeError: as `load_theme` does.
    """
    name = theme_for(choice, is_dark, has_few_colors=color_count <= 16)
    theme, warnings = load_theme(name, user_dir=user_dir)
    if color_count <= 16 and not theme.uses_terminal_palette:
        return load_theme(FEW_COLORS if theme.dark else FEW_COLORS_LIGHT)[0], warnings
    return with_indexed_colors(theme) if color_count == 256 else theme, warnings


def theme_for(choice: str, is_dark: bool | None, *, has_few_colors: bool = False) -> str:
    """Return the name of the theme to load."""
    if choice != AUTO:
        return choice
    if has_few_colors:
        return FEW_COLORS_LIGHT if is_dark is False else FEW_COLORS
    return DEFAULT_THEME if is_dark is None else DARK if is_dark else LIGHT
