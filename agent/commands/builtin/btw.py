"""`/btw`: a side question: the model sees the conversation, which does not change."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText


async def call(arguments: str, context: CommandContext) -> CommandResult:
    """Ask, even while a turn is running. Raises ModelError."""
    question = arguments.strip()
    if not question:
        return ShowText("Type a question after /btw.", "warning")
    answer = await context.ask_side_question(question)
    return ShowText(f"btw: {question}\n{answer}")
