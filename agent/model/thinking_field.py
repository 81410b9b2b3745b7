"""The `thinking` field of a request: adaptive, with a budget, off, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.messages import Message
from agent.model.client import ModelCapabilities, ModelRequest

MOST_BUDGET_TOKENS: Final = 16_000
LEAST_BUDGET_TOKENS: Final = 1_024
"""The API's minimum."""


def thinking_field(request: ModelRequest, model: ModelCapabilities) -> dict[str, object] | None:
    """Return the field's value; None to omit the field."""
    if "thinking" in request.without or not model.can_think:
        return None
    if not request.thinking:
        return {"type": "disabled"} if model.can_disable_thinking else None
    if model.adaptive_thinking:
        # Without summaries, thinking is hidden, and nothing shows on the screen meanwhile.
        return {"type": "adaptive", "display": "summarized"}
    budget = min(MOST_BUDGET_TOKENS, min(request.max_tokens, model.max_output_tokens) // 2)
    if budget < LEAST_BUDGET_TOKENS or _has_lost_thinking(request.messages):
        return None
    return {"type": "enabled", "budget_tokens": budget}


def _has_lost_thinking(messages: Sequence[Message]) -> bool:
    """Whether the last answer has calls without thinking, which a budget requires."""
    for message in reversed(messages):
        if message.role == "assistant":
            kinds = [block.get("type") for block in message.content]
            return "tool_use" in kinds and kinds[0] not in ("thinking", "redacted_thinking")
    return False
