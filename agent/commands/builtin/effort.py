"""`/effort`: how hard the model thinks."""

from __future__ import annotations

from typing import get_args

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.model.client import Effort


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Show or change the effort; `auto` leaves it to the model."""
    levels = get_args(Effort)
    level_name = arguments.strip().lower()
    if not level_name:
        now = context.status.effort or "auto"
        return ShowText(f"effort {now}; available: {', '.join((*levels, 'auto'))}")
    if level_name == "auto":
        context.changes.set_effort(None)
        return ShowText("Effort set to auto")
    level = next((level for level in levels if level == level_name), None)
    if level is None:
        names = ", ".join((*levels, "auto"))
        return ShowText(f"Unknown effort {level_name!r}. Known: {names}.", "warning")
    context.changes.set_effort(level)
    return ShowText(f"Effort set to {level}")
