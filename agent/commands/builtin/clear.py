"""`/clear`: an empty conversation; the old one stays resumable, by a name if it gets one."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import ClearConversation, CommandResult
from agent.commands.session_title import title_of


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Name what is left behind, where a name is given, and ask for a new conversation."""
    title = title_of(arguments)
    if title:
        await context.changes.rename(title)
    return ClearConversation()
