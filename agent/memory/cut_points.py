"""Where a history may be cut: never inside a tool call and its result, never in what is unread."""

from __future__ import annotations

from collections.abc import Sequence

from agent.memory.estimate import message_tokens
from agent.messages import Message


def unread_start(messages: Sequence[Message]) -> int:
    """Return where the part begins that the model has not answered yet.

    The calls of the last answer belong to it: their results are not valid without them.
    """
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if message.role == "assistant":
            return index if message.tool_uses() else index + 1
    return 0


def safe_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indexes where an unchanged tail may begin: whole rounds and whole prompts."""
    return tuple(
        index
        for index, message in enumerate(messages)
        if _begins_round(messages, index) or (message.role == "user" and not _is_answer(message))
    )


def tail_start(messages: Sequence[Message], max_tokens: int) -> int:
    """Return where the unchanged tail begins: the longest one of at most `max_tokens`.

    It holds everything unread, whatever its size, and begins with the user's words where that is
    possible. `len(messages)` where nothing is unread and the last exchange is too large.
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
