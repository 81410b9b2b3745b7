"""Finds where a history was changed, after which thinking is no longer valid."""

from __future__ import annotations

from collections.abc import Sequence

from agent.messages import Message


def changed_from(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> int | None:
    """Return the index of the first message that differs; None if none does."""
    for index, (old, new) in enumerate(zip(old_messages, new_messages, strict=False)):
        if old is not new and old != new:
            return index
    return (
        None
        if len(old_messages) == len(new_messages)
        else min(len(old_messages), len(new_messages))
    )
