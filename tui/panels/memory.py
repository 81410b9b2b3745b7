"""`/memory`: the instruction files that the model received, and its stored facts, to edit."""

from __future__ import annotations

from pathlib import Path

from agent.assembly.memory_setup import everywhere, facts_directory
from agent.memory.facts import INDEX
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen


async def open_panel(screen: CommandScreen, _argument: str) -> None:
    """Let the user choose a file to edit, or create one."""
    command_service = screen.session.commands
    if command_service is None:
        return
    context = command_service.context
    kinds: dict[Path, str] = {file.path: file.memory_type for file in context.instructions()}
    kinds.setdefault(context.settings().project_root / "AGENTS.md", "Project, not created yet")
    kinds.setdefault(context.agent_home / "AGENTS.md", "User, not created yet")
    # Facts that were stored in sessions are files, too.
    directory = facts_directory(context.agent_home, context.settings().project_root)
    if (directory / INDEX).exists():
        kinds[directory / INDEX] = "All facts, one per line"
    for path in (
        *sorted(directory.glob("[!.]*.md")),
        *sorted(everywhere(context.agent_home).glob("[!.]*.md")),
    ):
        kinds.setdefault(path, "Fact")
    paths = list(kinds)
    items = [
        Item(screen.workspace.display_path(path), kinds[path], path.exists()) for path in paths
    ]
    pick = await screen.show_dialog(
        ListPanel("Instructions and facts", items, hint="enter edit · esc close")
    )
    if pick is not None:
        screen.workspace.edit_file(paths[pick.index])
