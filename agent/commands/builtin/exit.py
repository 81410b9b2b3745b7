"""`/exit`: leave."""

from __future__ import annotations

from agent.commands.context import CommandContext
from agent.commands.results import CommandResult, Leave


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """Ask for the end."""
    return Leave()
