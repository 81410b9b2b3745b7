"""Where a history may be cut: never between a call and its result, never in the unread part."""

from __future__ import annotations

from collections.abc import Sequence

from agent.memory.estimate import message_tokens
from agent.messages import Message


def unread_start(messages: Sequence[Message]) -> int:
    """Return the index at which the part begins that the model has not answered yet.

    The calls of the last answer belong to it, as their results are invalid without them.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "assistant":
            return index if message.tool_uses() else index + 1
    return 0


def safe_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indexes at which an unchanged tail may begin: those of rounds and of prompts."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if _begins_round(messages, index) or (message.role == "user" and not _is_answer(message))
    )


def tail_start(messages: Sequence[Message], max_tokens: int) -> int:
    """Return the index at which the longest tail of at most `max_tokens` begins.

    The tail contains everything unread, whatever its size, and begins with a user's prompt if
    possible. `len(messages)` if nothing is unread and the last exchange is too large.
    """
    sizes = [message_tokens(message) for message in messages]
    unread = unread_start(messages)
    fitting: int | None = None
    fitting_own: int | None = None
    for index in reversed(safe_starts(messages)):
        if index < unread and sum(sizes[index:]) > max_tokens:
            break
        fitting = index
        if messages[index].origin == "person" and index <= unread:
            fitting_own = index
    if fitting_own is not None:
        return fitting_own
    return len(messages) if fitting is None else fitting


def _begins_round(messages: Sequence[Message], index: int) -> bool:
    is_answer = messages[index].role == "assistant"
    return is_answer and index > 0 and messages[index - 1].role == "user"


def _is_answer(message: Message) -> bool:
    return any(block.get("type") == "tool_result" for block in message.content)
