"""The use of the window by part: the figures of `/context`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agent.memory.estimate import block_tokens, prefix_tokens
from agent.messages import Block, Message


class Slice(Struct, frozen=True):
    """One part of the window."""

    name: str
    tokens: int


class ContextBreakdown(Struct, frozen=True):
    """The window and its parts, largest first; the parts add up to `used`."""

    window: int
    used_tokens: int
    slices: tuple[Slice, ...]
    is_measured: bool
    """Whether the total is the endpoint's count, to which the parts are scaled."""


def context_breakdown(
    system: Sequence[Block],
    tools: Sequence[Mapping[str, object]],
    messages: Sequence[Message],
    *,
    window: int,
    measured_tokens: int = 0,
) -> ContextBreakdown:
    """Return the size of the next request, by part."""
    parts: dict[str, int] = {
        "System prompt": sum(block_tokens(block) for block in system),
        "Tools": prefix_tokens((), tools),
    }
    for message in messages:
        for block in message.content:
            name = _part(message, block)
            parts[name] = parts.get(name, 0) + block_tokens(block)
    estimate = sum(parts.values())
    scale = measured_tokens / estimate if measured_tokens and estimate else 1.0
    slices = [Slice(name, round(tokens * scale)) for name, tokens in parts.items() if tokens]
    slices.sort(key=lambda part: part.tokens, reverse=True)
    return ContextBreakdown(
        window, sum(s.tokens for s in slices), tuple(slices), bool(measured_tokens)
    )


def _part(message: Message, block: Block) -> str:
    match block.get("type"):
        case "thinking" | "redacted_thinking":
            return "Thinking"
        case "tool_use":
            return "Tool calls"
        case "tool_result":
            return "Tool results"
        case "image" | "document":
            return "Images and documents"
        case _:
            if message.origin == "summary":
                return "Summary of earlier messages"
            if message.origin in {"reminder", "hook"}:
                return "Instructions and notes"
            return "Answers" if message.role == "assistant" else "Messages"
