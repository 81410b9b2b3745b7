"""`/recap`: a summary of this conversation for a user who returns to it."""

from __future__ import annotations

from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText

QUESTION: Final = (
    "The user comes back after a while. Say in at most six short lines where this conversation "
    "stands: what they wanted, what was done and changed, what is open, and what comes next. "
    "Plain text, no heading."
)


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Ask the model in a side question. Raises ModelError."""
    if not any(message.origin in ("person", "summary") for message in context.session.messages):
        return ShowText("Nothing to summarize yet.")
    return ShowText(await context.ask_side_question(QUESTION))
