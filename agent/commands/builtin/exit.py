"""`/exit`: end the program."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, Leave


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Request the end of the program."""
    return Leave()
