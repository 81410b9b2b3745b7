"""Where a history may be cut: never inside a tool call and its result, nor inside an answer."""

from __future__ import annotations

from collections.abc import Sequence

from agent.memory.estimate import message_tokens
from agent.messages import Message


def safe_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indexes where an unchanged tail may begin: user messages that answer no call."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if message.role == "user"
        and not any(block.get("type") == "tool_result" for block in message.content)
    )


def tail_start(messages: Sequence[Message], max_tokens: int) -> int:
    """Return where the unchanged tail begins: the longest one of at most `max_tokens`.

    It begins with the user's words where that is possible. `len(messages)` when even the last
    exchange is larger: then nothing stays unchanged.
    """
    sizes = [message_tokens(message) for message in messages]
    fitting: int | None = None
    fitting_own: int | None = None
    for index in reversed(safe_starts(messages)):
        if sum(sizes[index:]) > max_tokens:
            break
        fitting = index
        if messages[index].origin == "person":
            fitting_own = index
    if fitting_own is not None:
        return fitting_own
    return len(messages) if fitting is None else fitting
