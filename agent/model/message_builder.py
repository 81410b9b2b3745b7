"""Builds a message from one response's events, with the blocks exactly as received."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from agent.events import Usage
from agent.messages import Block, Message, ToolUse, new_uid
from agent.model.client import (
    BlockDelta,
    BlockStart,
    BlockStop,
    MessageDelta,
    MessageStart,
    MessageStop,
    ModelError,
    ModelEvent,
)
from agent.model.served.code_calls import mark_call
from agent.model.wire import read_asides, read_usage
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_json import load_json

NAME_LIMIT: Final = 128
"""Longest name of a tool that endpoints accept, in characters."""
ID_LIMIT: Final = 64
"""Longest id of a call that endpoints accept, in characters."""
NAMELESS: Final = "unnamed"

_IDENTIFIER: Final = compile_late(rf"[A-Za-z0-9_-]{{1,{ID_LIMIT}}}")
_FOREIGN: Final = compile_late(r"[^A-Za-z0-9_-]")


class MessageBuilder:
    """The state of one response while it streams.

    Contradictory events raise `ModelError` of kind `malformed`; a missing block end is accepted,
    because some servers omit it.
    """

    def __init__(self, uid: str | None = None) -> None:
        """`uid` is that of the message to be built."""
        self.uid = uid or new_uid()
        self.api_id: str | None = None
        self.model: str | None = None
        self.usage = Usage()
        self.asides: tuple[tuple[str, Usage], ...] = ()
        """Other models that the endpoint used for this answer, each with its usage."""
        self.stop_reason: str | None = None
        self.stop_details: Mapping[str, object] | None = None
        self.complete = False
        """Whether `MessageStop` arrived."""
        self._container: str | None = None
        self._blocks: dict[int, _OpenBlock] = {}
        self._invalid: dict[str, str] = {}

    def feed(self, event: ModelEvent) -> None:
        """Take the next event.

        Raises:
            ModelError: the event contradicts the earlier ones.
        """
        if self.complete:
            return
        match event:
            case MessageStart():
                self._start(event)
            case BlockStart(index, block):
                self._open(index, block)
            case BlockDelta(index, delta):
                self._extend(index, delta)
            case BlockStop(index):
                self._close(index)
            case MessageDelta():
                self.stop_reason = event.stop_reason or self.stop_reason
                self.stop_details = event.stop_details or self.stop_details
                self.usage = read_usage(event.usage, self.usage)
                self.asides = read_asides(event.usage) or self.asides
                self._container = event.container or self._container
            case MessageStop():
                self._close_all()
                self.complete = True
            case _:
                assert_never(event)

    def message(self) -> Message:
        """Return the message so far: its complete blocks, in order.

        Empty text and thinking without a signature are omitted, as neither may be sent back.
        """
        blocks = [
            block.value for _, block in sorted(self._blocks.items()) if block.value is not None
        ]
        return Message(
            role="assistant",
            content=tuple(
                mark_call(block, self._container) for block in blocks if _is_returnable(block)
            ),
            origin="model",
            uid=self.uid,
            model=self.model,
            api_id=self.api_id,
            stop_reason=self.stop_reason,
        )

    def tool_uses(self) -> tuple[ToolUse, ...]:
        """Return the complete tool calls in order, with any raw input that is not a JSON object."""
        return tuple(
            ToolUse(use.id, use.name, use.input, self._invalid.get(use.id))
            for use in self.message().tool_uses()
        )

    def block(self, index: int) -> Block | None:
        """Return a block that is complete; None for any other."""
        block = self._blocks.get(index)
        return block.value if block is not None else None

    @property
    def partial_text(self) -> str:
        """Text of the text block that is still open; empty if there is none."""
        return "".join(
            "".join(block.parts["text"])
            for block in self._blocks.values()
            if block.value is None and block.head.get("type") == "text"
        )

    @property
    def has_started(self) -> bool:
        """Whether a block of the answer has started, so that a user may have seen it."""
        return bool(self._blocks)

    def _start(self, event: MessageStart) -> None:
        if self.api_id is not None and (event.api_id != self.api_id or self._blocks):
            raise _malformed_error("a second message_start")
        self.api_id = event.api_id
        self.model = event.model
        self.usage = event.usage

    def _open(self, index: int, block: Block) -> None:
        # Not even after its end: if a proxy repeats events, a call must not run twice.
        if index in self._blocks:
            raise _malformed_error(f"block {index} started twice")
        self._close_all()
        self._blocks[index] = _OpenBlock(dict(block))

    def _extend(self, index: int, delta: Mapping[str, object]) -> None:
        block = self._blocks.get(index)
        if block is None or block.value is not None:
            raise _malformed_error(f"a delta for block {index}, which is not open")
        block.extend(delta)

    def _close(self, index: int) -> None:
        block = self._blocks.get(index)
        if block is None:
            raise _malformed_error(f"the end of block {index}, which never started")
        if block.value is not None:
            return
        block.value = block.to_block()
        if block.invalid_json is not None:
            self._invalid[str(block.value.get("id"))] = block.invalid_json

    def _close_all(self) -> None:
        for index in self._blocks:
            self._close(index)


_APPENDED: Final[Mapping[str, tuple[str, str]]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "input_json_delta": ("partial_json", "input"),
}
"""Delta type to its field and to the field of the block that it extends."""


class _OpenBlock(Struct):
    head: Block
    parts: dict[str, list[str]] = field(
        default_factory=lambda: {"text": [], "thinking": [], "input": []}
    )
    new_fields: dict[str, object] = field(default_factory=dict)
    citations: list[object] = field(default_factory=list)
    value: Block | None = None
    """The complete block, once it has ended."""
    invalid_json: str | None = None

    def extend(self, delta: Mapping[str, object]) -> None:
        kind = str(delta.get("type"))
        if kind in _APPENDED:
            source, target = _APPENDED[kind]
            self.parts[target].append(str(delta.get(source) or ""))
        elif kind == "signature_delta":
            self.new_fields["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            self.citations.append(delta.get("citation"))
        elif kind == "compaction_delta":
            self.new_fields.update(
                {k: v for k, v in delta.items() if k != "type" and v is not None}
            )
        # A delta of an unknown kind is ignored; its block stays as it was opened.

    def to_block(self) -> Block:
        block = dict(self.head)
        for name in ("text", "thinking"):
            if self.parts[name]:
                block[name] = str(block.get(name) or "") + "".join(self.parts[name])
        block.update(self.new_fields)
        if self.citations:
            block["citations"] = [*(block.get("citations") or []), *self.citations]
        if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
            block["input"] = self._input(block.get("input"))
        return block

    def _input(self, opened_with: object) -> dict[str, object]:
        """Return the tool input; empty, with `invalid_json` set, if it is not a JSON object."""
        text = "".join(self.parts["input"])
        if not text.strip():
            return dict(opened_with) if isinstance(opened_with, Mapping) else {}
        try:
            value = load_json(text)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        self.invalid_json = text
        return {}


def _is_returnable(block: Block) -> bool:
    kind = block.get("type")
    if kind == "text":
        return bool(str(block.get("text") or "").strip())
    if kind == "thinking":
        return bool(block.get("signature"))
    return True


def _malformed_error(what: str) -> ModelError:
    return ModelError("malformed", f"The server sent {what}.", phase="stream")


class CallRepair:
    """Gives the tool calls of one response a valid id and name; changes nothing else.

    Some servers number the calls of every response from zero, or omit the id. With two calls of one
    id in the history, all later requests would be rejected.
    """

    def __init__(self, earlier: Sequence[Message]) -> None:
        """`earlier` are the messages of the request."""
        self._earlier = earlier
        self._used_ids: set[str] | None = None

    def repair(self, event: ModelEvent) -> ModelEvent:
        """Return the event; the start of a tool call gets a unique id and a valid name."""
        if not isinstance(event, BlockStart) or event.block.get("type") != "tool_use":
            return event
        call_id = self._unique_id(str(event.block.get("id") or ""))
        name = _valid_name(str(event.block.get("name") or ""))
        if event.block.get("id") == call_id and event.block.get("name") == name:
            return event
        return replace(event, block={**event.block, "id": call_id, "name": name})

    def _unique_id(self, call_id: str) -> str:
        if self._used_ids is None:
            # Only now: most answers call no tool.
            self._used_ids = {use.id for message in self._earlier for use in message.tool_uses()}
        if _IDENTIFIER.fullmatch(call_id) is None or call_id in self._used_ids:
            call_id = f"call_{uuid.uuid4().hex}"
        self._used_ids.add(call_id)
        return call_id


def _valid_name(name: str) -> str:
    return _FOREIGN.sub("_", name)[:NAME_LIMIT] or NAMELESS
