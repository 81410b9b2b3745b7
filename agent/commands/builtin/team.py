"""`/team`: the members of this session's team, what each works on, and the tasks."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show the team."""
    lines = context.team()
    if lines is None:
        return ShowText(
            "This session leads no team. To lead one: agent-tui --team NAME. It delegates the work "
            "to workers and writes one answer from what they report."
        )
    return ShowText("\n".join(lines))
