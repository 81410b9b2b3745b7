"""What the scripted server needs for a dialect: read requests, check them, encode answers.

Everything in between uses the Messages API: `canonical` converts a request to it, and the events
of an answer are encoded one by one, so that turns, conditions and faults work in all dialects.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from agent.model.scripted.faults import Quirk
from agent.model.scripted.frames import ScriptedAnswer
from agent.model.scripted.prefix import PrefixChain
from agent.model.scripted.send_plan import Encoder
from agent.model.scripted.validate import RequestProblem

Body = Mapping[str, object]


class SpokenDialect(Struct, frozen=True):
    """One dialect."""

    canonical: Callable[[str, Body], dict[str, object]]
    """Converts a path and a request to a body of the Messages API."""
    problem: Callable[[Body], RequestProblem | None]
    """Returns why the real endpoint would reject a request; None if it would accept it."""
    encoder: Callable[[ScriptedAnswer, Body, Sequence[Quirk]], Encoder]
    error_body: Callable[[int, str, str], str]
    """Encodes a status, the Messages API's type of error, and a text."""
    whole: Callable[[ScriptedAnswer], dict[str, object]]
    """Converts an answer to one JSON object."""


def data_line(value: object, event: str = "") -> bytes:
    """Return the bytes of one event of a stream."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(value)}\n\n".encode()


def seal(kind: str, text: str) -> str:
    """Return a signature by which the server recognizes its own content."""
    body = f"{kind}\0{text}".encode("utf-8", "surrogatepass")
    return f"{kind}.{hashlib.sha256(body).hexdigest()[:40]}"


def conversation_digest(chain: PrefixChain) -> str:
    """Return a digest of a conversation up to its last answer; empty if it has none.

    Without thinking and ids, as not every dialect sends them back.
    """
    lines: list[str] = []
    end = 0
    for unit in chain.units:
        if unit.place == "tool" or unit.block.get("type") == "thinking":
            continue
        # Some dialects send errors back as text, so the content of results is not compared.
        left_out = {"id", "tool_use_id", "cache_control", "is_error", "content"}
        bare = {key: value for key, value in unit.block.items() if key not in left_out}
        lines.append(f"{unit.place} {json.dumps(bare, sort_keys=True)}")
        if unit.place == "assistant":
            end = len(lines)
    text = "\n".join(lines[:end]).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest() if end else ""


class MessageList:
    """Builds a list of messages, merging adjacent ones of one role."""

    def __init__(self) -> None:
        """Start empty."""
        self.messages: list[dict[str, object]] = []

    def add(self, role: str, *blocks: Mapping[str, object]) -> None:
        """Append blocks of a role."""
        if not blocks:
            return
        last = self.messages[-1] if self.messages else {}
        content = last.get("content")
        if last.get("role") == role and isinstance(content, list):
            content.extend(blocks)
        else:
            self.messages.append({"role": role, "content": list(blocks)})


def canonical_body(
    model: object, limit: object, system: str, tools: Sequence[object], messages: MessageList
) -> dict[str, object]:
    """Return a body of the Messages API."""
    body: dict[str, object] = {
        "model": model,
        "max_tokens": limit if isinstance(limit, int) else 4096,
        "messages": messages.messages,
        "stream": True,
    }
    if system:
        body["system"] = [{"type": "text", "text": system}]
    if tools:
        body["tools"] = list(tools)
    return body


def result_block(call_id: object, text: str, *, is_error: bool) -> dict[str, object]:
    """Return a `tool_result` block."""
    block: dict[str, object] = {"type": "tool_result", "tool_use_id": call_id, "content": text}
    if is_error:
        block["is_error"] = True
    return block


def input_tokens(usage: Mapping[str, object]) -> tuple[int, int]:
    """Return the prompt's total tokens, and how many of them came from the cache."""
    read = _number(usage.get("cache_read_input_tokens"))
    write = _number(usage.get("cache_creation_input_tokens"))
    return _number(usage.get("input_tokens")) + read + write, read


def output_tokens(usage: Mapping[str, object]) -> tuple[int, int]:
    """Return the answer's total tokens, and how many of them were thinking."""
    details = usage.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, Mapping) else 0
    return _number(usage.get("output_tokens")), _number(thinking)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
