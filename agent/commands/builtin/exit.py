"""`/exit`: leave."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, Leave


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Ask for the end."""
    return Leave()
