"""Validity of a history: the user message after a `tool_use` answers it, exactly once.

An endpoint rejects a history that breaks this, so the loop never builds one: synthetic results
close whatever an abort, a crash or an error left open (pattern "Synthetic Tool Result Emission").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.messages import Block, Message, ToolUse, text_block, tool_result_block

INTERRUPTED_NOTE: Final = "[Request interrupted by user]"
INTERRUPTED_FOR_TOOL_NOTE: Final = "[Request interrupted by user for tool use]"
OUTCOME_UNKNOWN: Final = (
    "Outcome unknown: the program ended while this tool was running. It was not run again. "
    "Check the current state before you repeat it."
)

Side = Literal["before", "since"]


class HistoryPart(Struct, frozen=True):
    """The part before or since one of the user's messages, which the user wants summarized."""

    message_uid: str
    side: Side
    """`since` contains the message itself, `before` does not."""


def synthetic_results(tool_uses: Iterable[ToolUse], text: str) -> tuple[Block, ...]:
    """Return an error result for each call that will get no real one."""
    return tuple(tool_result_block(use.id, text, is_error=True) for use in tool_uses)


def open_tool_uses(messages: Sequence[Message]) -> tuple[ToolUse, ...]:
    """Return the calls of the last assistant message that no later message answers, in order."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role != "assistant":
            continue
        answered_ids = {
            str(block.get("tool_use_id"))
            for message in messages[index + 1 :]
            for block in message.content
            if block.get("type") == "tool_result"
        }
        return tuple(use for use in messages[index].tool_uses() if use.id not in answered_ids)
    return ()


def without_system_role(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages for a model without a system role: they become user messages."""
    return [
        replace(message, role="user") if message.role == "system" else message
        for message in messages
    ]


def to_wire(messages: Sequence[Message]) -> list[dict[str, object]]:
    """Return the messages as JSON for an endpoint: adjacent ones of a role merged, results first.

    Merging depends only on the messages themselves, so a prefix that was sent before serializes
    to the same bytes every time.
    """
    wire: list[dict[str, object]] = []
    for message in messages:
        blocks = [dict(block) for block in message.content]
        if not blocks:
            continue
        if wire and wire[-1]["role"] == message.role:
            previous = wire[-1]["content"]
            assert isinstance(previous, list)
            previous.extend(blocks)
            continue
        wire.append({"role": message.role, "content": blocks})
    for entry in wire:
        content = entry["content"]
        assert isinstance(content, list)
        if entry["role"] == "user" and any(b.get("type") == "tool_result" for b in content):
            content.sort(key=lambda block: block.get("type") != "tool_result")
    return wire


def problems(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what an endpoint would reject; empty for a history that may be sent."""
    texts: list[str] = []
    wire = to_wire(messages)
    if not wire:
        return ("the history is empty",)
    if wire[0]["role"] != "user":
        texts.append("the first message is not the user's")
    open_ids: list[str] = []
    seen_ids: set[str] = set()
    for index, entry in enumerate(wire):
        content = entry["content"]
        assert isinstance(content, list)
        previous_ids, open_ids = open_ids, _ids(content, "tool_use", "id")
        results = _ids(content, "tool_result", "tool_use_id")
        if entry["role"] == "user":
            open_ids = []
            if sorted(results) != sorted(previous_ids):
                texts.append(f"message {index}: results {results} for open calls {previous_ids}")
        else:
            if results:
                texts.append(f"message {index}: a result in an assistant message")
            repeated_ids = [use for use in open_ids if use in seen_ids]
            if repeated_ids or len(set(open_ids)) != len(open_ids):
                texts.append(f"message {index}: repeated call ids {repeated_ids or open_ids}")
            seen_ids.update(open_ids)
        texts += [f"message {index}: an empty text block"] * sum(map(_is_empty_text, content))
    if open_ids:
        texts.append(f"calls without results at the end: {open_ids}")
    if wire[-1]["role"] != "user":
        texts.append("the last message is not the user's")
    return tuple(texts)


def _ids(content: Sequence[Block], kind: str, key: str) -> list[str]:
    return [str(block[key]) for block in content if block.get("type") == kind]


def _is_empty_text(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text", "")).strip()


def interruption(text: str = INTERRUPTED_NOTE) -> Message:
    """Return the note that tells the model that its answer was cut off on purpose."""
    return Message(role="user", content=(text_block(text),), origin="interruption")


def is_signed_summary(block: Block) -> bool:
    """Whether a block is a summary by the endpoint; one without content is a failed attempt."""
    return block.get("type") == "compaction" and bool(block.get("content"))


def without_signed_summary(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with the endpoint's signed summary as text, for one that rejects it.

    Thinking after it is removed: it is only valid together with the signed summary.
    """
    if not any(is_signed_summary(block) for message in messages for block in message.content):
        return tuple(messages)
    return drop_thinking(
        [
            replace(message, content=tuple(_plain_summary(block) for block in message.content))
            for message in messages
        ]
    )


def _plain_summary(block: Block) -> Block:
    if not is_signed_summary(block):
        return block
    return text_block(
        "<system-note>\nThis conversation continues an earlier one that was compacted to save "
        f"room. What matters of it:\n\n{block['content']}\n</system-note>"
    )


_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


def drop_thinking(messages: Sequence[Message], start: int = 0) -> tuple[Message, ...]:
    """Remove thinking from index `start` on, and messages that consist only of thinking."""
    remaining: list[Message] = list(messages[:start])
    for message in messages[start:]:
        if not any(block.get("type") in _THINKING for block in message.content):
            remaining.append(message)
            continue
        content = tuple(b for b in message.content if b.get("type") not in _THINKING)
        if content:
            remaining.append(replace(message, content=content))
    return tuple(remaining)
