"""Conversation messages: JSON blocks exactly as sent or received, with metadata.

`Block` is one content block in the Messages API's own JSON shape. An assistant turn goes back to
the endpoint byte for byte (preserved thinking), so blocks stay JSON data and are never converted.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct, field

Block = dict[str, Any]
"""One content block as JSON: `{"type": "text", …}`; treat as immutable once it is in a
`Message`."""

Role = Literal["user", "assistant", "system"]

Origin = Literal[
    "person", "model", "tool", "reminder", "interruption", "continuation", "hook", "summary",
    "agent", "synthesis",
]  # fmt: skip
"""Who caused a message: only `person` is the user's own words, `agent` is another agent."""


def new_uid() -> str:
    """Return a fresh identifier, unique across sessions."""
    return uuid.uuid4().hex


class Message(Struct, frozen=True):
    """One entry of the conversation."""

    role: Role
    content: tuple[Block, ...]
    origin: Origin
    uid: str = field(default_factory=new_uid)
    model: str | None = None
    """Model that wrote an assistant message; None for the others."""
    api_id: str | None = None
    """The endpoint's own message id, for assistant messages."""
    stop_reason: str | None = None
    """As received; None for user messages and for messages cut short."""

    def to_wire(self) -> dict[str, Any]:
        """Return the message as the Messages API takes it."""
        return {"role": self.role, "content": [dict(block) for block in self.content]}

    @property
    def text(self) -> str:
        """All text blocks joined; empty when there are none."""
        return "".join(str(b.get("text", "")) for b in self.content if b.get("type") == "text")

    def tool_uses(self) -> tuple[ToolUse, ...]:
        """Return the tool calls in order; empty for anything but assistant messages."""
        return tuple(
            [
                ToolUse(id=str(b["id"]), name=str(b["name"]), input=b.get("input") or {})
                for b in self.content
                if b.get("type") == "tool_use"
            ]
        )


class ToolUse(Struct, frozen=True):
    """One tool call the model made."""

    id: str
    name: str
    input: Mapping[str, Any]
    invalid_json: str | None = None
    """The raw input text when it was not a JSON object; `input` is empty then."""


def text_block(text: str) -> Block:
    """Return a text block."""
    return {"type": "text", "text": text}


def user_message(text: str, *, origin: Origin = "person") -> Message:
    """Return a user message with one text block."""
    return Message(role="user", content=(text_block(text),), origin=origin)


def tool_result_block(
    tool_use_id: str, content: str | Iterable[Block], *, is_error: bool = False
) -> Block:
    """Return a `tool_result` block; empty text becomes a visible placeholder the API accepts."""
    body: str | list[Block] = content if isinstance(content, str) else list(content)
    if not body:
        body = "(no output)"
    block: Block = {"type": "tool_result", "tool_use_id": tool_use_id, "content": body}
    if is_error:
        block["is_error"] = True
    return block


def tool_results_message(blocks: Iterable[Block]) -> Message:
    """Return the one user message that carries all results of an assistant turn, in call order."""
    return Message(role="user", content=tuple(blocks), origin="tool")
