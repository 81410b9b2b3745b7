"""The palette: a searchable list of all commands and actions of the main screen."""

from __future__ import annotations

from collections.abc import Callable

from tui.input.actions import ACTIONS_BY_ID
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen
from tui.prompt.word_completion import candidates

Perform = Callable[[str], object]


async def open_palette(screen: CommandScreen, perform: Perform, run: Perform) -> None:
    """Let the user choose; `perform` performs an action by id, `run` runs a command with its `/`.

    A command with arguments is inserted into the prompt, where the user types them.
    """
    commands = candidates(screen.session.registry)
    items = [
        Item(
            f"/{command.label}",
            command.detail,
            keywords=" ".join((command.hint, *command.aliases)),
            hint=command.hint,
        )
        for command in commands
    ]
    keymap = screen.keys.keymap
    actions = [
        action
        for action_id in sorted(screen.keys.action_ids)
        if (action := ACTIONS_BY_ID.get(action_id)) is not None and action.id not in _NOT_HERE
    ]
    items += [
        Item(action.description, keymap.display(action.id), keywords=action.id)
        for action in actions
    ]
    panel = ListPanel("Palette", items, hint="type to search · enter run · esc close")
    pick = await screen.show_dialog(panel)
    if pick is None:
        return
    if pick.index >= len(commands):
        perform(actions[pick.index - len(commands)].id)
        return
    command = commands[pick.index]
    if command.hint.startswith("<"):
        text = f"/{command.label} "
        screen.composer.edit(lambda buffer: buffer.set_text(text))
    else:
        run(f"/{command.label}")


_NOT_HERE = frozenset({"app:commandPalette", "chat:submit", "chat:newline", "app:interrupt"})
"""Actions that make no sense from the palette."""
