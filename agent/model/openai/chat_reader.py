"""Reads Chat Completions streams, including the deviations of many servers.

Calls are distinguished by index and by id, as some servers number every call 0. A call is passed on
while it arrives; one that begins before its arguments are complete waits until it ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

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
from agent.model.dialects.foreign_blocks import signature
from agent.model.dialects.function_names import long_names
from agent.model.dialects.json_members import array, count, record, text
from agent.model.dialects.provider import Provider
from agent.model.openai.marked_text import MarkedPiece, MarkedText, WrittenCall

_STOPS: Final[Mapping[str, str]] = {
    "stop": "end_turn",
    "eos": "end_turn",
    "length": "max_tokens",
    "max_tokens": "max_tokens",
    "model_length": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
}


class _Call(Struct):
    index: object
    id: str
    name: str
    waiting: list[str] = field(default_factory=list)
    """Arguments that were not passed on yet."""
    arguments: str = ""


class ChatReader:
    """Reads one response."""

    def __init__(self, request: ModelRequest, provider: Provider) -> None:
        """`request` is the request that the response belongs to."""
        self._provider = provider
        self._names = long_names(request.tools)
        self._marked_text = MarkedText(
            {str(tool.get("name")) for tool in request.tools if "input_schema" in tool}
        )
        self._has_started = False
        self._block = -1
        self._kind = ""
        """Kind of the open block: `text`, `thinking`, `call`, or empty."""
        self._details: list[object] = []
        self._calls: list[_Call] = []
        self._complete_calls = 0
        """Calls that have ended."""
        self._stop: str | None = None
        self._usage: dict[str, object] = {}

    def read(self, record_: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if record_.get("error"):
            raise stream_failure(record_["error"])
        if not self._has_started:
            self._has_started = True
            yield MessageStart(text(record_, "id"), text(record_, "model"), Usage())
        self._count(record(record_, "usage") or record(record(record_, "x_groq"), "usage"))
        for choice in array(record_, "choices")[:1]:
            if choice.get("error"):
                raise stream_failure(choice["error"])
            yield from self._delta(record(choice, "delta"))
            reason = choice.get("finish_reason")
            if isinstance(reason, str) and reason:
                if reason == "error":
                    raise stream_failure({"message": "The provider stopped with an error."})
                self._stop = _STOPS.get(reason, "end_turn")

    def end(self) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        for piece in self._marked_text.end():
            yield from self._piece(piece)
        yield from self._flush_calls()
        yield from self._close()
        if self._stop is None:
            raise ModelError("cut", "The answer ended before it was complete.", phase="stream")
        stop = "tool_use" if self._calls and self._stop == "end_turn" else self._stop
        yield MessageDelta(stop, None, self._usage)
        yield MessageStop()

    def whole(self, answer: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        choices = array(answer, "choices")
        if not choices and not answer.get("error"):
            text_ = "The server answered with JSON that is not a chat completion."
            raise ModelError("malformed", text_, phase="headers")
        as_deltas = [{**choice, "delta": record(choice, "message")} for choice in choices]
        yield from self.read({**answer, "choices": as_deltas})
        self._stop = self._stop or "end_turn"

    def _count(self, usage: Mapping[str, object]) -> None:
        if not usage:
            return
        read = count(record(usage, "prompt_tokens_details"), "cached_tokens")
        read = read or count(usage, "prompt_cache_hit_tokens")
        thinking = count(record(usage, "completion_tokens_details"), "reasoning_tokens")
        self._usage = {
            "input_tokens": max(0, count(usage, "prompt_tokens") - read),
            "cache_read_input_tokens": read,
            "output_tokens": count(usage, "completion_tokens"),
            "output_tokens_details": {"thinking_tokens": thinking},
        }

    def _delta(self, delta: Mapping[str, object]) -> Iterator[ModelEvent]:
        details = delta.get("reasoning_details")
        thought = text(delta, "reasoning_content") or text(delta, "reasoning")
        if isinstance(details, list):
            self._details += details
            thought = thought or "".join(
                text(each, "text") or text(each, "summary")
                for each in array(delta, "reasoning_details")
            )
        if thought or (details and self._kind != "thinking" and not self._calls):
            yield from self._extend_block("thinking", thought)
        if isinstance(delta.get("content"), list):
            for part in array(delta, "content"):  # Mistral's parts
                yield from self._part(part)
        elif content := text(delta, "content"):
            for piece in self._marked_text.feed(content):
                yield from self._piece(piece)
        if refusal := text(delta, "refusal"):
            yield from self._extend_block("text", refusal)
            self._stop = "refusal"
        for number, call in enumerate(array(delta, "tool_calls")):
            yield from self._call_delta(call, number)
        if function := record(delta, "function_call"):
            yield from self._call_delta({"index": 0, "function": function}, 0)

    def _part(self, part: Mapping[str, object]) -> Iterator[ModelEvent]:
        if part.get("type") == "thinking":
            inner = array(part, "thinking")
            yield from self._extend_block("thinking", "".join(text(each, "text") for each in inner))
        else:
            yield from self._extend_block("text", text(part, "text"))

    def _piece(self, piece: MarkedPiece | WrittenCall) -> Iterator[ModelEvent]:
        match piece:
            case MarkedPiece(kind, content):
                if content.strip() or self._kind == kind:
                    yield from self._extend_block(kind, content)
            case WrittenCall(name, input_json):
                function = {"name": name, "arguments": input_json}
                yield from self._call_delta({"index": None, "function": function}, 0)

    def _extend_block(self, kind: str, piece: str) -> Iterator[ModelEvent]:
        if self._kind != kind:
            yield from self._flush_calls()
            yield from self._close()
            yield from self._open(kind, {"type": kind, kind: ""})
        if piece:
            yield BlockDelta(self._block, {"type": f"{kind}_delta", kind: piece})

    def _call_delta(self, delta: Mapping[str, object], number: int) -> Iterator[ModelEvent]:
        function = record(delta, "function")
        index = delta.get("index", number)
        call = self._call(index, text(delta, "id"), text(function, "name"))
        arguments = function.get("arguments")
        if isinstance(arguments, Mapping):
            arguments = json.dumps(arguments)
        if isinstance(arguments, str) and arguments:
            call.waiting.append(arguments)
        yield from self._emit_calls()

    def _call(self, index: object, call_id: str, name: str) -> _Call:
        """Return the call that a delta extends; a new one if its id or its index is new."""
        for call in reversed(self._calls):
            if index is not None and call.index == index and (not call_id or call.id == call_id):
                call.name = call.name or name
                return call
        self._calls.append(_Call(index, call_id, name))
        return self._calls[-1]

    def _emit_calls(self, *, all_of_them: bool = False) -> Iterator[ModelEvent]:
        while self._complete_calls < len(self._calls):
            call = self._calls[self._complete_calls]
            is_last = self._complete_calls == len(self._calls) - 1
            if not call.name and not all_of_them:
                return
            if self._kind != "call":
                yield from self._close()
                name = self._names.get(call.name, call.name)
                head: Block = {"type": "tool_use", "id": call.id, "name": name, "input": {}}
                yield from self._open("call", head)
            for piece in call.waiting:
                call.arguments += piece
                yield BlockDelta(self._block, {"type": "input_json_delta", "partial_json": piece})
            call.waiting.clear()
            if not all_of_them and (is_last or not _is_complete_json(call.arguments)):
                return
            yield from self._close()
            self._complete_calls += 1

    def _flush_calls(self) -> Iterator[ModelEvent]:
        yield from self._emit_calls(all_of_them=True)

    def _open(self, kind: str, head: Block) -> Iterator[ModelEvent]:
        self._block += 1
        self._kind = kind
        yield BlockStart(self._block, head)

    def _close(self) -> Iterator[ModelEvent]:
        if self._kind == "thinking":
            payload = {"reasoning_details": self._details} if self._details else {}
            mark = signature(self._provider.name, payload)
            self._details = []
            yield BlockDelta(self._block, {"type": "signature_delta", "signature": mark})
        if self._kind:
            yield BlockStop(self._block)
        self._kind = ""


def _is_complete_json(arguments: str) -> bool:
    try:
        json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return False
    return True
