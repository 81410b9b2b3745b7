"""`/rename`: a name for this session."""

from __future__ import annotations

from agent.commands.context import CommandContext
from agent.commands.results import CommandResult, Renamed, ShowText
from agent.sanitize import sanitize


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Name it; the pickers show the name from now on."""
    title = " ".join(sanitize(arguments).split())[:200]
    if not title:
        return ShowText("Type the name behind /rename.", "warning")
    await context.session.rename(title)
    return Renamed(title)
