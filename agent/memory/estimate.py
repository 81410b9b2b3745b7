"""Sizes in tokens without a tokenizer: measured by the endpoint if it counts, else estimated."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from agent.messages import Block, Message
from agent.model.text_tokens import text_tokens

IMAGE_TOKENS: Final = 1_600
DOCUMENT_TOKENS_PER_BYTE: Final = 0.01
MESSAGE_TOKENS: Final = 4
"""Overhead of a message, in tokens."""


def block_tokens(block: Block) -> int:
    """Return an estimate for a content block, in tokens."""
    match block.get("type"):
        case "text":
            return text_tokens(str(block.get("text", "")))
        case "image":
            return IMAGE_TOKENS
        case "document":
            return _document_tokens(block)
        case "tool_result":
            content = block.get("content")
            if isinstance(content, list):
                return MESSAGE_TOKENS + sum(block_tokens(b) for b in content if isinstance(b, dict))
            return MESSAGE_TOKENS + text_tokens(str(content or ""))
        case "compaction":
            return text_tokens(str(block.get("content") or ""))
        case "thinking":
            return text_tokens(str(block.get("thinking", "")) + str(block.get("signature", "")))
        case _:
            return text_tokens(json.dumps(block, ensure_ascii=False, default=str))


def _document_tokens(block: Block) -> int:
    source = block.get("source")
    data = source.get("data", "") if isinstance(source, Mapping) else ""
    return max(IMAGE_TOKENS, int(len(str(data)) * DOCUMENT_TOKENS_PER_BYTE))


def message_tokens(message: Message) -> int:
    """Return an estimate for one message, in tokens."""
    return MESSAGE_TOKENS + sum(map(block_tokens, message.content))


def total_tokens(messages: Iterable[Message]) -> int:
    """Return an estimate for all messages, in tokens."""
    return sum(message_tokens(message) for message in messages)


def prefix_tokens(system: Sequence[Block], tools: Sequence[Mapping[str, object]]) -> int:
    """Return an estimate for system prompt and tools, in tokens."""
    schemas = sum(text_tokens(json.dumps(tool, default=str)) for tool in tools)
    return sum(block_tokens(block) for block in system) + schemas


def next_request_tokens(messages: Sequence[Message], measured_tokens: int, prefix: int) -> int:
    """Return the size of the next request, in tokens.

    `measured_tokens` is the endpoint's count up to and including the last answer, and only
    later messages are estimated; 0 means not measured.
    """
    if measured_tokens <= 0:
        return prefix + total_tokens(messages)
    last = max((i for i, m in enumerate(messages) if m.role == "assistant"), default=-1)
    return measured_tokens + total_tokens(messages[last + 1 :])
