"""`/cost`: tokens and costs of this session by model, and of all sessions together."""

from __future__ import annotations

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.observe.cost_tracker import ModelCost


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show the figures according to the price table; a local model costs nothing."""
    status = context.status
    percent = 100 * status.context_tokens / max(1, status.context_window)
    lines = [total(status.cost_usd, is_complete=True)]
    costs = context.costs
    if costs is not None:
        state = costs.session()
        lines = [total(status.cost_usd, is_complete=state.is_complete)]
        lines += [_model_line(name, cost) for name, cost in state.models.items()]
        if not state.is_complete:
            lines.append("  Some models have no known price; the setting `prices` can set one.")
    lines.append(
        f"window {status.context_tokens:,} of {status.context_window:,} tokens ({percent:.0f}%)"
    )
    if costs is not None:
        sums = await costs.everywhere()
        lines.append(
            f"all sessions: ${sums.today_usd:.2f} today, ${sums.month_usd:.2f} this month, "
            f"${sums.total_usd:.2f} in total"
        )
    return ShowText("\n".join(lines))


def total(cost_usd: float, *, is_complete: bool) -> str:
    """Return the first line; usage without a known price is not reported as free."""
    if is_complete:
        return f"${cost_usd:.4f} in this session"
    return f"at least ${cost_usd:.4f} in this session" if cost_usd else "no cost known so far"


def _model_line(name: str, cost: ModelCost) -> str:
    usage = cost.usage
    write_tokens = usage.cache_write_5m_tokens + usage.cache_write_1h_tokens
    price = f"${cost.cost_usd:.4f}" if cost.is_priced else "no price"
    return (
        f"  {name}: {price} · {usage.input_tokens:,} in · {usage.output_tokens:,} out · "
        f"{usage.cache_read_tokens:,} read from cache · {write_tokens:,} written to it · "
        f"{cost.cache_hit_rate:.0%} of prompts from cache"
    )
