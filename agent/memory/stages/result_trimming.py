"""Old tool results cut down to their beginning: the call stays, and can be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.history import drop_thinking
from agent.memory.stages.thinking import changed_from
from agent.messages import Block, Message, text_block

TRIMMED_CHARS: Final = 400
LONG_CHARACTERS: Final = 2_000
"""Shorter results stay as they are."""


def trim_results(messages: Sequence[Message], *, before: int) -> tuple[Message, ...]:
    """Return the messages with long results before an index cut to their first characters."""
    changed = tuple(
        _trimmed(message) if index < before else message for index, message in enumerate(messages)
    )
    first = changed_from(messages, changed)
    return changed if first is None else drop_thinking(changed, first + 1)


def _trimmed(message: Message) -> Message:
    content = tuple(
        _trim(block) if block.get("type") == "tool_result" else block for block in message.content
    )
    return message if content == message.content else replace(message, content=content)


def _trim(block: Block) -> Block:
    content = block.get("content")
    if isinstance(content, str):
        return {**block, "content": _cut(content)} if len(content) > LONG_CHARACTERS else block
    if not isinstance(content, list):
        return block
    texts = [p for p in content if isinstance(p, dict) and p.get("type") == "text"]
    if sum(len(str(p.get("text", ""))) for p in texts) <= LONG_CHARACTERS:
        return block
    joined = "\n".join(str(p.get("text", "")) for p in texts)
    others = [p for p in content if not (isinstance(p, dict) and p.get("type") == "text")]
    return {**block, "content": [text_block(_cut(joined)), *others]}


def _cut(text: str) -> str:
    return (
        f"{text[:TRIMMED_CHARS]}\n[{len(text) - TRIMMED_CHARS:,} more characters of this "
        "result were removed to save room; repeat the call if they are needed]"
    )
