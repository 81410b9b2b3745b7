"""Removes the oldest tool calls with their results; all other text stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from agent.history import drop_thinking
from agent.memory.estimate import message_tokens
from agent.messages import Message, ToolUse, user_message

MAX_LISTED: Final = 60
"""Most removed calls that the note names; the latest ones."""
MAX_ARGUMENT_CHARS: Final = 120
_HEAD: Final = (
    "<system-note>\nEarlier tool calls and their results were removed to save room. Repeat a call "
    "if its result is needed again. Removed:\n"
)
_END: Final = "\n</system-note>"


def drop_rounds(messages: Sequence[Message], *, end: int, tokens: int) -> tuple[Message, ...]:
    """Return the messages without the oldest rounds before an index, until `tokens` are free.

    Only calls and their results are removed, always together, and a note names them. The
    user's messages and the text of answers stay.
    """
    remaining: list[Message] = []
    dropped_calls: list[ToolUse] = []
    first: int | None = None
    freed_tokens = 0
    index = 0
    while index < end and freed_tokens < tokens:
        message = messages[index]
        is_round = bool(message.tool_uses()) and index + 1 < end
        if is_round:
            first = len(remaining) if first is None else first
            texts = _without_calls(message)
            remaining.extend(texts)
            answers = _without_results(messages[index + 1])
            remaining.extend(answers)
            dropped_calls.extend(message.tool_uses())
            freed_tokens += message_tokens(message) + message_tokens(messages[index + 1])
            freed_tokens -= sum(map(message_tokens, (*texts, *answers)))
            index += 2
        else:
            remaining.append(message)
            index += 1
    if first is None:
        return tuple(messages)
    rest = [*remaining, *messages[index:]]
    note_index = next((i for i, m in enumerate(remaining) if m.text.startswith(_HEAD)), None)
    if note_index is None:
        note_index = first
        rest.insert(note_index, _removal_note(list(map(call_line, dropped_calls))))
    else:
        lines = rest[note_index].text[len(_HEAD) : -len(_END)].splitlines()
        note = _removal_note([*lines, *map(call_line, dropped_calls)])
        rest[note_index] = replace(rest[note_index], content=note.content)
    return drop_thinking(rest, note_index)


def call_line(use: ToolUse) -> str:
    """Return a call in one line: its tool and its first argument."""
    argument = next((str(v) for v in use.input.values() if isinstance(v, str) and v.strip()), "")
    line = " ".join(f"{use.name} {argument}".split())
    return line if len(line) <= MAX_ARGUMENT_CHARS else f"{line[:MAX_ARGUMENT_CHARS]}…"


def _removal_note(lines: Sequence[str]) -> Message:
    visible = lines if len(lines) <= MAX_LISTED else ["…", *lines[-MAX_LISTED:]]
    return user_message(f"{_HEAD}{chr(10).join(visible)}{_END}", origin="reminder")


def _without_calls(message: Message) -> tuple[Message, ...]:
    """Return the answer without its calls; empty if it had nothing else."""
    content = tuple(block for block in message.content if block.get("type") == "text")
    return (replace(message, content=content),) if content else ()


def _without_results(message: Message) -> tuple[Message, ...]:
    content = tuple(block for block in message.content if block.get("type") != "tool_result")
    return (replace(message, content=content),) if content else ()
