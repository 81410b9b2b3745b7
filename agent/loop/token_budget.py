"""A token budget that stops at 90 % or when continuing yields little (pattern
"Diminishing-Returns")."""

from __future__ import annotations

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

COMPLETION_THRESHOLD: Final = 0.9
DIMINISHING_TOKENS: Final = 500
DIMINISHING_CHECKS: Final = 3


class BudgetTracker(Struct, frozen=True):
    """Progress against a token budget, over the continuations of one prompt."""

    budget_tokens: int
    continuation_count: int = 0
    last_delta_tokens: int = 0
    last_total_tokens: int = 0


class ContinueBudget(Struct, frozen=True):
    """Continue; `nudge` is the message that tells the model how much is left."""

    tracker: BudgetTracker
    nudge: str


class StopBudget(Struct, frozen=True):
    """Stop; `is_diminishing` is whether the last continuations each yielded under 500 tokens."""

    is_diminishing: bool


def check_token_budget(tracker: BudgetTracker, total_tokens: int) -> ContinueBudget | StopBudget:
    """Decide whether another continuation is worth it; `total_tokens` are output tokens so far."""
    delta = total_tokens - tracker.last_total_tokens
    is_diminishing = (
        tracker.continuation_count >= DIMINISHING_CHECKS
        and delta < DIMINISHING_TOKENS
        and tracker.last_delta_tokens < DIMINISHING_TOKENS
    )
    if is_diminishing or total_tokens >= tracker.budget_tokens * COMPLETION_THRESHOLD:
        return StopBudget(is_diminishing)
    percent = round(100 * total_tokens / tracker.budget_tokens)
    return ContinueBudget(
        replace(
            tracker,
            continuation_count=tracker.continuation_count + 1,
            last_delta_tokens=delta,
            last_total_tokens=total_tokens,
        ),
        nudge=(
            f"{percent}% of the token budget is used ({total_tokens} of {tracker.budget_tokens}). "
            "Keep working on the task; do not summarize yet."
        ),
    )
