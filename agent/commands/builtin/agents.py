"""`/agents`: the kinds of sub-agents the model can start."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.subagents.subagent import READ_ONLY_TYPES, READ_TOOLS


async def call(_arguments: str, _context: CommandContext) -> CommandResult:
    """List them with what they may use; each has the rules, hooks and mode of this conversation."""
    reading = ", ".join(sorted(READ_TOOLS))
    kinds = ", ".join(sorted(READ_ONLY_TYPES))
    return ShowText(
        "general-purpose: every tool but those that talk to you\n"
        f"{kinds}: {reading} only\n"
        "The model starts them with its Agent tool; your rules, hooks and mode apply to them "
        "too."
    )
