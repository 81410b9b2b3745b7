"""Reads streams of the Responses API: one block for each output item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from agent.events import Usage
from agent.messages import Block
from agent.model.client import (
    BlockDelta,
    BlockStart,
    BlockStop,
    MessageDelta,
    MessageStart,
    MessageStop,
    ModelError,
    ModelEvent,
    ModelRequest,
)
from agent.model.dialects.dialect_failures import stream_failure
from agent.model.dialects.foreign_blocks import origin, signature
from agent.model.dialects.function_names import long_names
from agent.model.dialects.json_members import array, count, record, text
from agent.model.dialects.provider import Provider

_INCOMPLETE: Final[Mapping[str, str]] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "refusal",
}


class ResponsesReader:
    """Reads one response."""

    def __init__(self, request: ModelRequest, provider: Provider) -> None:
        """`request` is the request that the response belongs to."""
        self._provider = provider.name
        self._names = long_names(request.tools)
        self._open: dict[int, str] = {}
        """Open blocks to the types of their items."""
        self._blocks: dict[object, int] = {}
        """Index and id of an item to its block, as some servers send only one of them."""
        self._count = 0
        self._with_deltas: set[int] = set()
        self._calls = 0
        self._refusal = ""
        self._has_started = False
        self._has_ended = False

    def read(self, record_: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if record_.get("error") and "type" not in record_:
            raise stream_failure(record_["error"])
        match record_.get("type"):
            case "response.created" | "response.in_progress":
                yield from self._start(record(record_, "response"))
            case "response.output_item.added":
                yield from self._start_block(record_, record(record_, "item"))
            case "response.output_item.done":
                yield from self._end_block(record_, record(record_, "item"))
            case "response.completed" | "response.incomplete":
                yield from self._end(record(record_, "response"))
            case "response.failed":
                raise stream_failure(record(record_, "response").get("error"))
            case "error":
                raise stream_failure(record_.get("error") or record_)
            case _:
                yield from self._delta(record_)

    def end(self) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if not self._has_ended:
            text_ = "The answer ended before it was complete."
            raise ModelError("cut", text_, phase="stream")
        yield MessageStop()

    def whole(self, answer: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if not isinstance(answer.get("output"), list):
            text_ = "The server answered with JSON that is not a response."
            raise ModelError("malformed", text_, phase="headers")
        yield from self._start(answer)
        for index, item in enumerate(array(answer, "output")):
            yield from self._start_block({"output_index": index}, item)
            yield from self._end_block({"output_index": index}, item)
        yield from self._end(answer)

    def _start(self, response: Mapping[str, object]) -> Iterator[ModelEvent]:
        if not self._has_started:
            self._has_started = True
            yield MessageStart(text(response, "id"), text(response, "model"), Usage())

    def _start_block(
        self, record_: Mapping[str, object], item: Mapping[str, object]
    ) -> Iterator[ModelEvent]:
        kind = text(item, "type")
        block: Block
        match kind:
            case "message":
                phase = item.get("phase")
                block = {"type": "text", "text": ""}
                if phase:
                    block |= origin(self._provider, phase=phase)
            case "reasoning":
                block = {"type": "thinking", "thinking": ""}
            case "function_call":
                self._calls += 1
                name = text(item, "name")
                block = {
                    "type": "tool_use",
                    "id": text(item, "call_id"),
                    "name": self._names.get(name, name),
                    "input": {},
                }
            case _:
                return
        number = self._count
        self._count += 1
        self._blocks |= dict.fromkeys(_keys(record_, item), number)
        self._open[number] = kind
        yield BlockStart(number, block)

    def _block_of(self, record_: Mapping[str, object], item: Mapping[str, object]) -> int | None:
        """Return the open block that a record refers to; the last one if the record names none."""
        keys = _keys(record_, item)
        blocks = [self._blocks[key] for key in keys if key in self._blocks]
        if not blocks and not keys:
            blocks = [*self._open][-1:]
        return blocks[0] if blocks and blocks[0] in self._open else None

    def _delta(self, record_: Mapping[str, object]) -> Iterator[ModelEvent]:
        delta: dict[str, object]
        match record_.get("type"):
            case "response.output_text.delta":
                delta = {"type": "text_delta", "text": text(record_, "delta")}
            case "response.refusal.delta":
                self._refusal += text(record_, "delta")
                delta = {"type": "text_delta", "text": text(record_, "delta")}
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                delta = {"type": "thinking_delta", "thinking": text(record_, "delta")}
            case "response.reasoning_summary_part.added" if record_.get("summary_index"):
                delta = {"type": "thinking_delta", "thinking": "\n\n"}
            case "response.function_call_arguments.delta":
                delta = {"type": "input_json_delta", "partial_json": text(record_, "delta")}
            case _:
                return
        index = self._block_of(record_, {})
        if index is not None:
            self._with_deltas.add(index)
            yield BlockDelta(index, delta)

    def _end_block(
        self, record_: Mapping[str, object], item: Mapping[str, object]
    ) -> Iterator[ModelEvent]:
        index = self._block_of(record_, item)
        if index is None:
            return
        kind = self._open.pop(index)
        if index not in self._with_deltas:
            yield from _late_deltas(index, kind, item)
        if kind == "reasoning":
            payload = {"id": item.get("id"), "encrypted_content": item.get("encrypted_content")}
            mark = signature(self._provider, payload)
            yield BlockDelta(index, {"type": "signature_delta", "signature": mark})
        yield BlockStop(index)

    def _end(self, response: Mapping[str, object]) -> Iterator[ModelEvent]:
        yield from self._start(response)
        for index in self._open:
            yield BlockStop(index)
        self._open.clear()
        reason = text(record(response, "incomplete_details"), "reason")
        stop = _INCOMPLETE.get(reason, "max_tokens" if reason else "end_turn")
        if self._refusal:
            stop = "refusal"
        elif self._calls and not reason:
            stop = "tool_use"
        details = {"explanation": self._refusal} if self._refusal else None
        self._has_ended = True
        yield MessageDelta(stop, details, _usage(record(response, "usage")))


def _late_deltas(index: int, kind: str, item: Mapping[str, object]) -> Iterator[ModelEvent]:
    """Yield the content of an item that a server sends only when the item ends."""
    if kind == "function_call":
        arguments = text(item, "arguments")
        yield BlockDelta(index, {"type": "input_json_delta", "partial_json": arguments})
    elif kind == "message":
        parts = array(item, "content")
        content = "".join(text(part, "text") or text(part, "refusal") for part in parts)
        yield BlockDelta(index, {"type": "text_delta", "text": content})
    else:
        parts = [*array(item, "summary"), *array(item, "content")]
        content = "\n\n".join(text(part, "text") for part in parts)
        yield BlockDelta(index, {"type": "thinking_delta", "thinking": content})


def _usage(usage: Mapping[str, object]) -> dict[str, object]:
    if not usage:
        return {}
    details = record(usage, "input_tokens_details")
    read, write = count(details, "cached_tokens"), count(details, "cache_write_tokens")
    thinking = count(record(usage, "output_tokens_details"), "reasoning_tokens")
    return {
        "input_tokens": max(0, count(usage, "input_tokens") - read - write),
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": write,
        "output_tokens": count(usage, "output_tokens"),
        "output_tokens_details": {"thinking_tokens": thinking},
    }


def _keys(record_: Mapping[str, object], item: Mapping[str, object]) -> list[object]:
    """Return the index and ids by which a record refers to its item."""
    names = (record_.get("output_index"), record_.get("item_id"), item.get("id"))
    return [name for name in names if isinstance(name, int | str)]
