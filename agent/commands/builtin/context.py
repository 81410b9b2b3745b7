"""`/context`: what uses the model's window."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, OpenPanel


async def call(arguments: str, _context: CommandContext) -> CommandResult:
    """Open the panel that shows it; a headless run prints the figures."""
    return OpenPanel("context", arguments)
