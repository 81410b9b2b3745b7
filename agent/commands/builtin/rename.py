"""`/rename`: a name for this session."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, Renamed, ShowText
from agent.commands.session_title import title_of


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Name it; the pickers show the name from now on."""
    title = title_of(arguments)
    if not title:
        return ShowText("Type a name after /rename.", "warning")
    await context.changes.rename(title)
    return Renamed(title)
