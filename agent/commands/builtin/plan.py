"""`/plan`: plan mode, and a task for it."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, SendPrompt, ShowText


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Switch without asking, because plan mode only reduces what is allowed."""
    context.gate.enter_plan_mode()
    if arguments:
        return SendPrompt(arguments)
    return ShowText("Plan mode is on: nothing is changed until you approve a plan.")
