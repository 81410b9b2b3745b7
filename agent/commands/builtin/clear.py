"""`/clear`: an empty conversation; the old one can be resumed, by name if it gets one."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import ClearConversation, CommandResult
from agent.commands.session_title import title_of


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Name the old conversation, if a name is given, and ask for a new one."""
    title = title_of(arguments)
    if title:
        await context.changes.rename(title)
    return ClearConversation()
