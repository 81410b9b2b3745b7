"""`/reload-skills`: read command and skill files again."""

from __future__ import annotations

from agent.commands.builtin.skills import describe
from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Read the directories again and report what they contain."""
    await context.custom.refresh()
    return ShowText(describe(context.custom))
