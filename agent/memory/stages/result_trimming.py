"""Cuts old tool results to their beginning and end; the call stays, and can be repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.history import drop_thinking
from agent.memory.stages.thinking import changed_from
from agent.messages import Block, Message, ToolUse, text_block

HEAD_CHARS: Final = 600
TAIL_CHARS: Final = 400
LONG_CHARACTERS: Final = 2_000
"""Shorter results are unchanged."""


def trim_results(messages: Sequence[Message], *, end: int) -> tuple[Message, ...]:
    """Return the messages with long results before an index cut to their head and tail."""
    calls = {use.id: use for message in messages for use in message.tool_uses()}
    new_messages = tuple(
        _trim_message(message, calls) if index < end else message
        for index, message in enumerate(messages)
    )
    first = changed_from(messages, new_messages)
    return new_messages if first is None else drop_thinking(new_messages, first + 1)


def _trim_message(message: Message, calls: Mapping[str, ToolUse]) -> Message:
    content = tuple(
        _trim(block, calls) if block.get("type") == "tool_result" else block
        for block in message.content
    )
    return message if content == message.content else replace(message, content=content)


def _trim(block: Block, calls: Mapping[str, ToolUse]) -> Block:
    content = block.get("content")
    hint = _recovery_hint(calls.get(str(block.get("tool_use_id"))))
    if isinstance(content, str):
        is_long = len(content) > LONG_CHARACTERS
        return {**block, "content": _cut_middle(content, hint)} if is_long else block
    parts = content if isinstance(content, list) else []
    texts = [part for part in parts if part.get("type") == "text"]
    text = "\n".join(str(part.get("text", "")) for part in texts)
    if len(text) <= LONG_CHARACTERS:
        return block
    others = [part for part in parts if part.get("type") != "text"]
    return {**block, "content": [text_block(_cut_middle(text, hint)), *others]}


def _recovery_hint(call: ToolUse | None) -> str:
    if call is not None and call.name == "Read":
        return f"Read {call.input.get('file_path')} again, a part with `offset` and `limit`"
    return "repeat the call"


def _cut_middle(text: str, hint: str) -> str:
    left_out = len(text) - HEAD_CHARS - TAIL_CHARS
    return (
        f"{text[:HEAD_CHARS]}\n[… {left_out:,} characters of this result were removed to save "
        f"room; if they are needed, {hint} …]\n{text[-TAIL_CHARS:]}"
    )
