"""Replaces a part of the history by a summary: what came before a prompt, or since.

The other part is unchanged. Next: `agent.memory.context_manager`, which asks for the summary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.history import HistoryPart, Side
from agent.memory.stages.digest import WORDS_END, WORDS_HEAD, own_words
from agent.memory.stages.summary import replace_past
from agent.messages import Message, user_message

_NAME_CHARS: Final = 80
_PREFACE: Final = frozenset({"reminder", "hook", "interruption"})


def part_start(messages: Sequence[Message], part: HistoryPart) -> int | None:
    """Return the index of the prompt, or of the notes before it; None if the prompt is gone."""
    for index, message in enumerate(messages):
        if message.uid == part.message_uid:
            while index and is_preface(messages[index - 1]):
                index -= 1
            return index
    return None


def is_preface(message: Message) -> bool:
    """Return whether a message is a note before a prompt, which is removed with it."""
    return message.role == "user" and message.origin in _PREFACE


def asked_about(messages: Sequence[Message], start: int, side: Side) -> tuple[Message, ...]:
    """Return the messages that the model needs for the summary."""
    return tuple(messages[:start]) if side == "before" else tuple(messages)


def focus_on(messages: Sequence[Message], part: HistoryPart) -> str:
    """Return the instruction that names the part; empty if the model sees only that part."""
    if part.side == "before":
        return ""
    text = next((m.text for m in messages if m.uid == part.message_uid), "")
    name = " ".join(text.split())[:_NAME_CHARS]
    return (
        f"only what happened since their message that begins “{name}”. What came before stays "
        "as it is: do not repeat it."
    )


def replace_part(
    messages: Sequence[Message], start: int, side: Side, summary: str
) -> tuple[Message, ...]:
    """Return the history with the part replaced; the user's prompts in it are quoted."""
    if side == "before":
        return replace_past(messages, start, summary)
    own_text = own_words(messages[start:])
    words = f"\n\n{WORDS_HEAD}{own_text}" if own_text else ""
    text = (
        "<system-note>\nWhat came next was compacted, as the user asked. What matters of it:"
        f"\n\n{summary.strip()}{words}{WORDS_END} read before you edit.\n</system-note>"
    )
    return (*messages[:start], user_message(text, origin="summary"))
