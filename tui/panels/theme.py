"""`/theme`: the colours, shown while they are being chosen."""

from __future__ import annotations

from themes.registry import available_themes, load_theme
from themes.theme import Theme, ThemeError
from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named theme, or let the person choose with everything already in it."""
    if argument:
        theme = _load(screen, argument)
        if theme is not None:
            screen.use_theme(theme)
            await screen.keep_setting("theme", theme.name)
        return
    names = available_themes(screen.themes_dir)
    before = _load(screen, screen.theme_name)
    current = names.index(screen.theme_name) if screen.theme_name in names else 0

    def show(index: int) -> None:
        theme = _load(screen, names[index])
        if theme is not None:
            screen.use_theme(theme)

    items = [Item(name, is_current=name == screen.theme_name) for name in names]
    picked = await screen.show_dialog(
        ListPanel("Theme", items, selected=current, on_move=show, hint="↑↓ look · enter keep · esc")
    )
    if picked is not None:
        show(picked.index)
        await screen.keep_setting("theme", names[picked.index])
    elif before is not None:
        screen.use_theme(before)


def _load(screen: CommandScreen, name: str) -> Theme | None:
    try:
        theme, warnings = load_theme(name, user_dir=screen.themes_dir)
    except ThemeError as error:
        screen.notice(str(error), "warning")
        return None
    for warning in warnings:
        screen.notice(warning, "warning")
    return theme
