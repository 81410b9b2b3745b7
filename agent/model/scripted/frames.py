"""An answer as server-sent events, in the order and with the fields of the real endpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from msgspec import Struct

from agent.model.scripted.prefix import PrefixChain, estimate_tokens, sign_thinking
from agent.model.scripted.scenario import Part, RawBlock, Text, Thinking, ToolCall, Turn
from agent.model.scripted.validate_served import CONTAINER, calls_by_code


class Frame(Struct, frozen=True):
    """One event, ready to be written."""

    event: str
    data: Mapping[str, object]
    tokens: int = 0
    """Output tokens in the event, for pacing."""

    def encode(self) -> bytes:
        """Return the bytes of the record."""
        return f"event: {self.event}\ndata: {json.dumps(self.data)}\n\n".encode()


class ScriptedAnswer(Struct, frozen=True):
    """A turn's answer to one request: final blocks, stop reason and usage."""

    message_id: str
    model: str
    blocks: tuple[Mapping[str, object], ...]
    parts: tuple[Part, ...]
    """Parallel to `blocks`."""
    stop_reason: str
    stop_details: Mapping[str, object] | None
    start_usage: Mapping[str, object]
    final_usage: Mapping[str, object]

    def message(self) -> dict[str, object]:
        """Return the answer as one JSON message, for a request without `stream`."""
        return {
            **_message_head(self),
            "content": [dict(block) for block in self.blocks],
            "stop_reason": self.stop_reason,
            "stop_details": self.stop_details,
            "usage": {**self.start_usage, **self.final_usage},
        }


def make_answer(
    turn: Turn,
    *,
    prefix: PrefixChain,
    message_id: str,
    model: str,
    input_usage: Mapping[str, object],
) -> ScriptedAnswer:
    """Return the answer of a turn, with ids, signatures and token counts.

    `prefix` contains the request and is extended by the answer's blocks.
    """
    blocks: list[dict[str, object]] = []
    for number, part in enumerate(turn.parts):
        block = _block(part, prefix.digest, f"{message_id}_{number}")
        blocks.append(block)
        prefix.add("assistant", block)
    output_tokens = sum(_tokens(part) for part in turn.parts) or 1
    thinking_tokens = sum(_tokens(part) for part in turn.parts if isinstance(part, Thinking))
    calls = any(block.get("type") == "tool_use" for block in blocks)
    final = {
        "output_tokens": output_tokens,
        "output_tokens_details": {"thinking_tokens": thinking_tokens},
    }
    return ScriptedAnswer(
        message_id=message_id,
        model=model,
        blocks=tuple(blocks),
        parts=turn.parts,
        stop_reason=turn.stop_reason or ("tool_use" if calls else "end_turn"),
        stop_details=turn.stop_details,
        start_usage={**input_usage, "output_tokens": 1, **turn.usage},
        final_usage={**final, **turn.usage},
    )


def frames_of(answer: ScriptedAnswer, *, words_per_delta: int) -> Iterator[Frame]:
    """Yield the events of the answer, `message_start` to `message_stop`."""
    head = {
        **_message_head(answer),
        "content": [],
        "stop_reason": None,
        "usage": dict(answer.start_usage),
    }
    yield Frame("message_start", {"type": "message_start", "message": head})
    yield Frame("ping", {"type": "ping"})
    for index, (block, part) in enumerate(zip(answer.blocks, answer.parts, strict=True)):
        open_block, deltas = _open(block, part, words_per_delta)
        yield Frame(
            "content_block_start",
            {"type": "content_block_start", "index": index, "content_block": open_block},
        )
        for delta, tokens in deltas:
            yield Frame(
                "content_block_delta",
                {"type": "content_block_delta", "index": index, "delta": delta},
                tokens,
            )
        yield Frame("content_block_stop", {"type": "content_block_stop", "index": index})
    end: dict[str, object] = {
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "stop_details": answer.stop_details,
    }
    if calls_by_code(answer.blocks):
        end["container"] = {"id": CONTAINER, "expires_at": "2026-12-01T00:00:00Z"}
    yield Frame(
        "message_delta",
        {"type": "message_delta", "delta": end, "usage": dict(answer.final_usage)},
    )
    yield Frame("message_stop", {"type": "message_stop"})


def _message_head(answer: ScriptedAnswer) -> dict[str, object]:
    return {
        "id": answer.message_id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }


def _block(part: Part, prefix_digest: str, call_id: str) -> dict[str, object]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Thinking(text, signature):
            seal = sign_thinking(prefix_digest, text) if signature is None else signature
            return {"type": "thinking", "thinking": text, "signature": seal}
        case ToolCall():
            return {
                "type": "tool_use",
                "id": part.id or call_id.replace("msg_", "toolu_", 1),
                "name": part.name,
                "input": dict(part.input),
            }
        case RawBlock(block):
            return dict(block)
    assert_never(part)


def _open(
    block: Mapping[str, object], part: Part, words: int
) -> tuple[dict[str, object], list[tuple[dict[str, object], int]]]:
    """Return the block as it starts, and (delta, tokens) pairs that complete it."""
    deltas: list[tuple[dict[str, object], int]]
    match part:
        case Text(text):
            deltas = [
                ({"type": "text_delta", "text": piece}, estimate_tokens(piece))
                for piece in split_words(text, words)
            ]
            return {"type": "text", "text": ""}, deltas
        case Thinking(text):
            deltas = [
                ({"type": "thinking_delta", "thinking": piece}, estimate_tokens(piece))
                for piece in split_words(text, words)
            ]
            deltas.append(({"type": "signature_delta", "signature": block["signature"]}, 0))
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
        case ToolCall():
            pieces = ["", *_json_pieces(part, words)] if part.input_json != "" else []
            deltas = [
                ({"type": "input_json_delta", "partial_json": piece}, estimate_tokens(piece))
                for piece in pieces
            ]
            return {**block, "input": {}}, deltas
        case RawBlock(_, raw_deltas):
            return dict(block), [(dict(delta), 1) for delta in raw_deltas]
    assert_never(part)


def split_words(text: str, words: int) -> list[str]:
    """Split text into pieces of about `words` words; joined, they are the text."""
    pieces = re.findall(r"\s*\S{1,24}|\s+", text)
    return ["".join(pieces[start : start + words]) for start in range(0, len(pieces), words)]


def _json_pieces(call: ToolCall, words: int) -> list[str]:
    text = json.dumps(dict(call.input)) if call.input_json is None else call.input_json
    size = 12 * words
    return [text[start : start + size] for start in range(0, len(text), size)]


def _tokens(part: Part) -> int:
    match part:
        case Text(text) | Thinking(text):
            return estimate_tokens(text) if text else 1
        case ToolCall():
            return 12 + sum(estimate_tokens(piece) for piece in _json_pieces(part, 64))
        case RawBlock(_, deltas):
            return 1 + len(deltas)
    assert_never(part)


def texts_of(blocks: Sequence[Mapping[str, object]]) -> str:
    """Return the text of all text blocks, joined."""
    return "".join(str(b.get("text", "")) for b in blocks if b.get("type") == "text")
