"""Reads `generateContent` streams: adjacent parts of one kind form a block, calls are complete."""

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

_STOPS: Final[Mapping[str, str]] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "FUNCTION_CALL": "end_turn",
    "TOO_MANY_TOOL_CALLS": "pause_turn",
    "CONTINUATION": "pause_turn",
}
"""Finish reasons to stop reasons; all others are refusals."""
_RETRIABLE_FINISHES: Final = frozenset(
    {
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
        "OTHER",
        "UNEXPECTED_TOOL_CALL",
    }
)
"""Finish reasons for an accidental failure of the model: a retry may succeed."""


class GeminiReader:
    """Reads one response."""

    def __init__(self, request: ModelRequest, provider: Provider) -> None:
        """`request` is the request that the response belongs to."""
        self._provider = provider.name
        self._names = long_names(request.tools)
        self._has_started = False
        self._block = -1
        self._kind = ""
        self._calls = 0
        self._finish = ""
        self._detail = ""
        self._usage: dict[str, object] = {}

    def read(self, record_: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if record_.get("error"):
            raise stream_failure(record_["error"])
        if not self._has_started:
            self._has_started = True
            name = text(record_, "modelVersion")
            yield MessageStart(text(record_, "responseId"), name, Usage())
        self._count(record(record_, "usageMetadata"))
        feedback = record(record_, "promptFeedback")
        if feedback.get("blockReason"):
            self._finish = str(feedback["blockReason"])
            self._detail = text(feedback, "blockReasonMessage")
        for candidate in array(record_, "candidates")[:1]:
            for part in array(record(candidate, "content"), "parts"):
                yield from self._part(part)
            if candidate.get("finishReason"):
                self._finish = str(candidate["finishReason"])
                self._detail = text(candidate, "finishMessage")

    def end(self) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        yield from self._close()
        if not self._finish:
            raise ModelError("cut", "The answer ended before it was complete.", phase="stream")
        if self._finish in _RETRIABLE_FINISHES and not self._calls:
            message = f"The model's answer was unusable ({self._finish}). {self._detail}".strip()
            raise ModelError("malformed", message, phase="stream")
        stop = _STOPS.get(self._finish, "refusal")
        if self._calls and stop == "end_turn":
            stop = "tool_use"
        reason = f"{self._finish}: {self._detail}" if self._detail else self._finish
        details = {"explanation": reason} if stop == "refusal" else None
        yield MessageDelta(stop, details, self._usage)
        yield MessageStop()

    def whole(self, answer: Mapping[str, object]) -> Iterator[ModelEvent]:
        """See `AnswerReader`."""
        if "candidates" not in answer and "promptFeedback" not in answer:
            message = "The server answered with JSON that is not generated content."
            raise ModelError("malformed", message, phase="headers")
        yield from self.read(answer)

    def _count(self, usage: Mapping[str, object]) -> None:
        if not usage:
            return
        read = count(usage, "cachedContentTokenCount")
        fresh = count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount")
        thinking = count(usage, "thoughtsTokenCount")
        self._usage = {
            "input_tokens": max(0, fresh - read),
            "cache_read_input_tokens": read,
            "output_tokens": count(usage, "candidatesTokenCount") + thinking,
            "output_tokens_details": {"thinking_tokens": thinking},
        }

    def _part(self, part: Mapping[str, object]) -> Iterator[ModelEvent]:
        mark = text(part, "thoughtSignature")
        call = record(part, "functionCall")
        if call:
            yield from self._call(call, mark)
            return
        piece = text(part, "text")
        kind = "thinking" if part.get("thought") else "text"
        if not piece and not mark:
            return
        if mark or self._kind != kind:
            # A signature belongs to its own part, which therefore becomes a block; as a text block,
            # a part without text would be dropped.
            yield from self._close()
            block_kind = kind if piece else "thinking"
            head: Block = {"type": block_kind, block_kind: ""}
            if mark:
                head |= origin(self._provider, signature=mark)
            yield from self._open(block_kind, head)
        if piece:
            yield BlockDelta(self._block, {"type": f"{kind}_delta", kind: piece})
        if mark:
            yield from self._close()

    def _call(self, call: Mapping[str, object], mark: str) -> Iterator[ModelEvent]:
        yield from self._close()
        self._calls += 1
        name = text(call, "name")
        call_id = text(call, "id")
        head: Block = {
            "type": "tool_use",
            "id": call_id,
            "name": self._names.get(name, name),
            "input": dict(record(call, "args")),
            **origin(self._provider, call_id=call_id or None, signature=mark),
        }
        yield from self._open("call", head)
        yield from self._close()

    def _open(self, kind: str, head: Block) -> Iterator[ModelEvent]:
        self._block += 1
        self._kind = kind
        yield BlockStart(self._block, head)

    def _close(self) -> Iterator[ModelEvent]:
        if self._kind == "thinking":
            mark = signature(self._provider, {})
            yield BlockDelta(self._block, {"type": "signature_delta", "signature": mark})
        if self._kind:
            yield BlockStop(self._block)
        self._kind = ""
