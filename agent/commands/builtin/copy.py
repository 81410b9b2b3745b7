"""`/copy`: an answer of the model as it was written, for the clipboard."""

from __future__ import annotations

from agent.commands.context import CommandContext
from agent.commands.results import CommandResult, CopyText, ShowText


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Copy the last answer, or the Nth from the end."""
    place = arguments.strip() or "1"
    if not place.isdecimal() or not int(place):
        return ShowText("/copy takes a number: 1 is the last answer, 2 the one before.", "warning")
    answers = [m.text for m in context.session.messages if m.role == "assistant" and m.text.strip()]
    if len(answers) < int(place):
        return ShowText(f"There are {len(answers)} answers.", "warning")
    text = answers[-int(place)]
    return CopyText(text, f"copied {len(text):,} characters")
