"""`/color`: the lines around the prompt, to distinguish windows; for this session."""

from __future__ import annotations

from typing import Final

from themes.theme import Role
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen

COLOURS: Final = {
    "default": Role.FAINT,
    "red": Role.ERROR,
    "green": Role.SUCCESS,
    "yellow": Role.WARNING,
    "blue": Role.ACCENT,
    "purple": Role.MODE_ACCEPT_EDITS,
    "pink": Role.SHELL,
    "cyan": Role.LINK,
}
"""By the theme's own shades, so that each can be seen on its background."""


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Use the named colour, or let the user choose with each already in it."""
    name = argument.strip().lower()
    if name:
        role = COLOURS.get(name)
        if role is None:
            screen.notice(f"No color {name!r}. Known: {', '.join(COLOURS)}.", "warning")
        else:
            screen.appearance.colour_prompt(role)
        return
    names = list(COLOURS)
    pick = await screen.show_dialog(ListPanel("Color", [Item(each) for each in names]))
    if pick is not None:
        screen.appearance.colour_prompt(COLOURS[names[pick.index]])
