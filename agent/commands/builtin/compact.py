"""`/compact`: a summary in place of the history."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, Compact


async def call(arguments: str, _context: CommandContext) -> CommandResult:
    """Ask for a summary; the arguments say what it must keep."""
    return Compact(arguments)
