"""Blocks that only one provider can read: marked on arrival, omitted for all others.

History stays in blocks of the Messages API, whichever model wrote it. What a provider must get back
unchanged is stored with them: in the signature of a thinking block (`@provider:` and JSON), or
under `_origin` in any other block.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from agent.history import drop_thinking, to_wire, without_signed_summary
from agent.messages import Block, Message, text_block
from agent.model.client import ModelRequest

ORIGIN: Final = "_origin"
_MARK: Final = "@"
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_COMMON: Final = frozenset({"text", "tool_use", "tool_result", "image", "document"})
"""Kinds of blocks that every provider can represent."""


def signature(provider: str, payload: Mapping[str, object]) -> str:
    """Return the signature of a provider's thinking block, with the payload to send back."""
    return f"{_MARK}{provider}:{json.dumps(payload, separators=(',', ':'))}"


def signed_payload(block: Mapping[str, object], provider: str) -> Mapping[str, object] | None:
    """Return the payload of this provider's thinking block; None for another provider's."""
    text = block.get("signature")
    head = f"{_MARK}{provider}:"
    if not isinstance(text, str) or not text.startswith(head):
        return None
    try:
        payload = json.loads(text.removeprefix(head))
    except ValueError:
        return None
    return payload if isinstance(payload, dict) else None


def origin(provider: str, **values: object) -> Block:
    """Return a field to be merged into a block: its provider, and values to send back."""
    return {ORIGIN: {"provider": provider, **values}}


def origin_of(block: Mapping[str, object], provider: str) -> Mapping[str, object]:
    """Return the `_origin` field of this provider's block; empty for another provider's."""
    mark = block.get(ORIGIN)
    if isinstance(mark, Mapping) and mark.get("provider") == provider:
        return mark
    return {}


def without_foreign(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages for the Messages API; the same object if no block is foreign.

    Messages that become empty are omitted.
    """
    if not any(_is_foreign(block) for message in messages for block in message.content):
        return messages
    remaining: list[Message] = []
    for message in messages:
        content = tuple(
            {key: value for key, value in block.items() if key != ORIGIN}
            for block in message.content
            if not _is_foreign_thinking(block)
        )
        if content:
            remaining.append(replace(message, content=content))
    return remaining


def shared_turns(request: ModelRequest, provider: str) -> list[tuple[str, list[Block]]]:
    """Return (role, blocks) pairs of a request, with the blocks that this provider can represent.

    Adjacent messages of one role are merged, with tool results first.
    """
    messages: Sequence[Message] = without_signed_summary(request.messages)
    if "kept_thinking" in request.without:
        messages = drop_thinking(messages)
    mine = [
        replace(message, content=tuple(_readable_blocks(message.content, provider)))
        for message in messages
    ]
    turns: list[tuple[str, list[Block]]] = []
    for entry in to_wire(mine):
        content = entry["content"]
        assert isinstance(content, list)
        turns.append((str(entry["role"]), content))
    return turns


def left_out(messages: Sequence[Message], provider: str) -> str:
    """Return a sentence about the parts of a history that a provider cannot read; else "".

    `provider` is empty for the main endpoint.
    """
    thinking = others = 0
    for message in messages:
        for block in message.content:
            kind = str(block.get("type"))
            if kind in _THINKING:
                theirs = _is_foreign_thinking(block)
                mine = not theirs if not provider else signed_payload(block, provider) is not None
                thinking += not mine
            elif provider and kind not in _COMMON and kind != "compaction":
                others += 1
    parts = []
    if thinking:
        parts.append("the reasoning of earlier answers")
    if others:
        parts.append("results of tools that another provider ran")
    if not parts:
        return ""
    what = " and ".join(parts)
    return f"Left out of the history, as only the provider that wrote it can read it: {what}."


def _readable_blocks(content: Sequence[Block], provider: str) -> list[Block]:
    readable: list[Block] = []
    for block in content:
        kind = str(block.get("type"))
        if kind in _COMMON or (kind == "thinking" and signed_payload(block, provider) is not None):
            readable.append(block)
        elif kind == "advisor_tool_result":
            advice = block.get("content")
            if isinstance(advice, Mapping) and advice.get("type") == "advisor_result":
                readable.append(text_block(f"[advisor] {advice.get('text')}"))
    return readable


def _is_foreign(block: Mapping[str, object]) -> bool:
    return ORIGIN in block or _is_foreign_thinking(block)


def _is_foreign_thinking(block: Mapping[str, object]) -> bool:
    return block.get("type") == "thinking" and str(block.get("signature")).startswith(_MARK)
