"""`/compact`: a summary in place of the history."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, Compact


async def call(arguments: str, _context: CommandContext) -> CommandResult:
    """Request a summary; the arguments name what it must contain."""
    return Compact(arguments)
