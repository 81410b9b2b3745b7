"""`/memory`: the instruction files the model was given, to open in the editor."""

from __future__ import annotations

from pathlib import Path

from tui.command_screen import CommandScreen
from tui.panels.list_panel import Item, ListPanel


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Let the person choose a file and edit it; a new one can be begun."""
    center = screen.commands
    if center is None:
        return
    context = center.context
    found: dict[Path, str] = {file.path: file.memory_type for file in context.instructions()}
    found.setdefault(context.settings().project_root / "AGENTS.md", "Project, not there yet")
    found.setdefault(context.agent_home / "AGENTS.md", "User, not there yet")
    paths = list(found)
    items = [Item(screen.display_path(path), found[path], path.exists()) for path in paths]
    picked = await screen.show_dialog(ListPanel("Instruction files", items, hint="enter edits it"))
    if picked is not None:
        screen.edit_file(paths[picked.index])
