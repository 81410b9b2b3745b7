"""Where a history was changed: later thinking is bound to what was there."""

from __future__ import annotations

from collections.abc import Sequence

from agent.messages import Message


def changed_from(old_messages: Sequence[Message], new_messages: Sequence[Message]) -> int | None:
    """Return the index of the first message that differs; None when nothing does."""
    for index, (old, new) in enumerate(zip(old_messages, new_messages, strict=False)):
        if old is not new and old != new:
            return index
    return (
        None
        if len(old_messages) == len(new_messages)
        else min(len(old_messages), len(new_messages))
    )
