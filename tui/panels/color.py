"""`/color`: sets the color of the lines around the prompt, to distinguish windows."""

from __future__ import annotations

from typing import Final

from themes.theme import Role
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen

COLORS: Final = {
    "default": Role.FAINT,
    "red": Role.ERROR,
    "green": Role.SUCCESS,
    "yellow": Role.WARNING,
    "blue": Role.ACCENT,
    "purple": Role.MODE_ACCEPT_EDITS,
    "pink": Role.SHELL,
    "cyan": Role.LINK,
}
"""Color names by theme roles, so that each is visible on the theme's background."""


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named color for this session, or let the user choose with a live preview."""
    name = argument.strip().lower()
    if name:
        role = COLORS.get(name)
        if role is None:
            screen.notice(f"No color {name!r}. Known: {', '.join(COLORS)}.", "warning")
        else:
            screen.appearance.color_prompt(role)
        return
    names = list(COLORS)
    pick = await screen.show_dialog(ListPanel("Color", [Item(each) for each in names]))
    if pick is not None:
        screen.appearance.color_prompt(COLORS[names[pick.index]])
