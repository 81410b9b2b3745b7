"""`/theme`: chooses the theme, with a live preview."""

from __future__ import annotations

from typing import Final

from themes.registry import available_themes, known_name, load_theme
from themes.theme import Theme, ThemeError
from tui.input.actions import Context
from tui.panels.list_panel import Item, ListPanel
from tui.panels.saved_setting import save_setting
from tui.ports.command_screen import CommandScreen
from tui.theme.theme_choice import AUTO

SYNTAX: Final = "theme:toggleSyntaxHighlighting"


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named theme, or let the user choose with a live preview."""
    if argument:
        if argument == AUTO or _load(screen, argument) is not None:
            screen.appearance.choose_theme(argument)
            await save_setting(screen, "theme", argument)
        return
    by_name = {name: _load(screen, name) for name in available_themes(screen.appearance.themes_dir)}
    themes = {name: theme for name, theme in by_name.items() if theme is not None}
    names = [AUTO, *themes]
    theme_name = known_name(screen.appearance.wanted_theme, screen.appearance.themes_dir)
    current = names.index(theme_name) if theme_name in names else 0

    def show(index: int) -> None:
        if theme := themes.get(names[index]):
            screen.appearance.use_theme(theme)

    items = [Item(name, _detail(themes.get(name)), is_current=name == theme_name) for name in names]
    color_key = screen.keys.keymap.display(SYNTAX)
    while True:
        panel = ListPanel(
            "Theme",
            items,
            selected_index=current,
            contexts=(Context.THEME_PICKER,),
            keys=(SYNTAX,),
            on_move=show,
            hint=f"↑↓ preview · enter save · {color_key} code colors · esc",
        )
        pick = await screen.show_dialog(panel)
        if pick is None or pick.key != SYNTAX:
            break
        current, is_on = pick.index, not screen.appearance.colors_code
        screen.appearance.color_code(is_on)
        await save_setting(screen, "syntaxHighlightingDisabled", None if is_on else True)
    screen.appearance.choose_theme(names[pick.index] if pick is not None else theme_name)
    if pick is not None:
        await save_setting(screen, "theme", names[pick.index])


def _detail(theme: Theme | None) -> str:
    return theme.label if theme is not None else "dark or light, like the terminal's background"


def _load(screen: CommandScreen, name: str) -> Theme | None:
    try:
        # The theme's warnings are shown once it is chosen.
        theme, _warnings = load_theme(name, user_dir=screen.appearance.themes_dir)
    except ThemeError as error:
        screen.notice(str(error), "warning")
        return None
    return theme
