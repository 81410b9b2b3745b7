"""`/cost`: tokens and money of this session."""

from __future__ import annotations

from agent.commands.context import CommandContext
from agent.commands.results import CommandResult, ShowText


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show the figures by the price table; a local model costs nothing."""
    session = context.session
    usage = session.usage
    used = 100 * session.context_tokens / max(1, session.context_window)
    return ShowText(
        f"${session.cost_usd:.4f} · {usage.input_tokens:,} in · {usage.output_tokens:,} out · "
        f"{usage.cache_read_tokens:,} from cache\n"
        f"window {session.context_tokens:,} of {session.context_window:,} tokens ({used:.0f} %)"
    )
