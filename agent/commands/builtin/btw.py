"""`/btw`: a question beside the conversation: it sees all of it, and leaves nothing in it."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Ask, also while a prompt is being worked on. Raises ModelError."""
    question = arguments.strip()
    if not question:
        return ShowText("Type a question after /btw.", "warning")
    answer = await context.ask_side_question(question)
    return ShowText(f"btw: {question}\n{answer}")
