"""`/orchestrate`: whether the model plans fan-outs of agents by itself."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText

ON = "orchestration mode on: the model may run workflows of agents for every substantive task"
OFF = "orchestration mode off: workflows only when you ask for one"


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Show or switch orchestration mode."""
    mode = context.orchestration
    match arguments.strip().lower():
        case "":
            return ShowText(ON if mode.is_on else OFF)
        case "on" | "off" as argument:
            mode.switch(is_on=argument == "on")
            return ShowText(f"{ON if mode.is_on else OFF}; from your next message")
        case other:
            return ShowText(f"/orchestrate takes on or off, not {other!r}.", "warning")
