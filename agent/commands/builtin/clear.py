"""`/clear`: an empty conversation; the one so far can be resumed."""

from __future__ import annotations

from agent.commands.context import CommandContext
from agent.commands.results import ClearConversation, CommandResult


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Ask for an empty conversation."""
    return ClearConversation()
