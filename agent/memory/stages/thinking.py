"""Removal of thinking whose past was changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from agent.messages import Message

_KINDS: Final = frozenset({"thinking", "redacted_thinking"})


def drop_thinking(messages: Sequence[Message], start: int = 0) -> tuple[Message, ...]:
    """Return the messages without thinking from an index on; an answer of thinking alone goes."""
    kept: list[Message] = list(messages[:start])
    for message in messages[start:]:
        if not any(block.get("type") in _KINDS for block in message.content):
            kept.append(message)
            continue
        content = tuple(b for b in message.content if b.get("type") not in _KINDS)
        if content:
            kept.append(replace(message, content=content))
    return tuple(kept)


def changed_from(before: Sequence[Message], after: Sequence[Message]) -> int | None:
    """Return the index of the first message that differs; None when nothing does."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new and old != new:
            return index
    return None if len(before) == len(after) else min(len(before), len(after))
