"""`/context`: what uses the model's window."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, OpenPanel


async def call(arguments: str, _context: CommandContext) -> CommandResult:
    """Open the panel that shows it; without a screen its figures are printed."""
    return OpenPanel("context", arguments)
