"""Replaces old images and documents by a placeholder: the cheapest step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.history import drop_thinking
from agent.memory.stages.thinking import changed_from
from agent.messages import Block, Message, text_block

_MARKERS: Final = {"image": "[image]", "document": "[document]"}


def strip_media(messages: Sequence[Message], *, end: int) -> tuple[Message, ...]:
    """Return the messages with media before an index replaced by `[image]` and `[document]`."""
    new_messages = tuple(
        _strip(message) if index < end else message for index, message in enumerate(messages)
    )
    first = changed_from(messages, new_messages)
    return new_messages if first is None else drop_thinking(new_messages, first + 1)


def _strip(message: Message) -> Message:
    content = tuple(_without_media(block) for block in message.content)
    return message if content == message.content else replace(message, content=content)


def _without_media(block: Block) -> Block:
    marker = _MARKERS.get(str(block.get("type")))
    if marker is not None:
        return text_block(marker)
    content = block.get("content")
    if block.get("type") == "tool_result" and isinstance(content, list):
        parts = [_without_media(part) if isinstance(part, dict) else part for part in content]
        return block if parts == content else {**block, "content": parts}
    return block
