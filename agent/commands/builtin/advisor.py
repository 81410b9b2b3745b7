"""`/advisor`: which stronger model the working one may consult."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.model.endpoint import expand_alias


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Show the advisor, choose another one, or switch it off."""
    model_name = arguments.strip()
    choice = context.advisor
    if not model_name:
        now = choice.model or "off"
        return ShowText(f"advisor {now}; /advisor MODEL chooses one, /advisor off none")
    if model_name.lower() == "off":
        choice.choose(None)
        return ShowText("advisor off from the next request")
    model = expand_alias(model_name)
    problem = context.model_problem(model)
    if problem is not None:
        return ShowText(problem, "warning")
    choice.choose(model)
    return ShowText(f"advisor {model} from the next request")
