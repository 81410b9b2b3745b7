"""Formats a conversation as one text, for a model that only reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final

from agent.messages import Block, Message

SYSTEM_CHARS: Final = 6_000
RESULT_CHARS: Final = 4_000
"""Most characters of one result or call, as the advisor needs only its essence."""
_CUT: Final = " … (cut) … "


def quoted_transcript(system: Sequence[Block], messages: Sequence[Message], max_chars: int) -> str:
    """Return instructions and messages; if too long, the middle is cut, with a note."""
    instructions = _short("\n".join(str(block.get("text", "")) for block in system), SYSTEM_CHARS)
    entries = [entry for message in messages for entry in _entries(message)]
    whole = "\n\n".join(entries)
    text = _short(whole, max(0, max_chars - len(instructions)))
    return (
        f"<instructions of the working model>\n{instructions}\n</instructions>\n\n"
        f"<transcript>\n{text}\n</transcript>"
    )


def _entries(message: Message) -> Iterator[str]:
    who = "model" if message.role == "assistant" else "user"
    for block in message.content:
        match block.get("type"):
            case "text":
                yield f"[{who}] {block['text']}"
            case "tool_use":
                input_json = json.dumps(block.get("input"), ensure_ascii=False)
                yield f"[call {block.get('name')}] {_short(input_json, RESULT_CHARS)}"
            case "tool_result":
                note = " failed" if block.get("is_error") else ""
                yield f"[result{note}] {_short(_text(block.get('content')), RESULT_CHARS)}"
            case _:
                pass


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block.get("text", f"({block.get('type')})")) for block in blocks)


def _short(text: str, limit: int) -> str:
    """Return a text's beginning and end, mostly the end, which has the latest state."""
    if len(text) <= limit:
        return text
    head = limit // 4
    return f"{text[:head]}{_CUT}{text[len(text) - (limit - head) :]}"
