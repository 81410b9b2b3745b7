"""Reasoning and calls that a server leaves in the text: `<think>`, `<tool_call>`, `[TOOL_CALLS]`.

Servers do this for models whose syntax they do not parse. Text is held back only while it may
become such a mark.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

_THINK: Final = ("<think>", "</think>")
_CALL: Final = ("<tool_call>", "</tool_call>")
_CALLS: Final = "[TOOL_CALLS]"
_LONGEST: Final = 1_000_000
"""A call that does not end within this number of characters is treated as text."""


class MarkedPiece(Struct, frozen=True):
    """A piece of text or of reasoning."""

    kind: Literal["text", "thinking"]
    text: str


class WrittenCall(Struct, frozen=True):
    """A call written as text."""

    name: str
    input_json: str


class MarkedText:
    """Splits the text of one answer; calls count only if their tool is offered."""

    def __init__(self, tools: Collection[str]) -> None:
        """`tools` are the names of the offered tools."""
        self._tools = tools
        self._pending = ""
        self._state: Literal["start", "text", "thinking", "call", "calls"] = "start"

    def feed(self, text: str) -> Iterator[MarkedPiece | WrittenCall]:
        """Yield the pieces and calls that more text completes."""
        self._pending += text
        while self._pending:
            old_state = self._pending, self._state
            yield from self._step()
            if (self._pending, self._state) == old_state:
                return

    def end(self) -> Iterator[MarkedPiece | WrittenCall]:
        """Yield what was held back until the end of the answer."""
        pending, self._pending = self._pending, ""
        if not pending:
            return
        if self._state == "calls":
            yield from self._read_list(pending)
        elif self._state == "call":
            # Models at their output limit, and some servers, omit the end mark.
            yield from self._read_call(pending, _CALL[0] + pending)
        else:
            yield MarkedPiece("thinking" if self._state == "thinking" else "text", pending)

    def _step(self) -> Iterator[MarkedPiece | WrittenCall]:
        match self._state:
            case "start":
                yield from self._begin()
            case "thinking":
                yield from self._until_end_of_thinking()
            case "text":
                yield from self._until_mark()
            case "call":
                yield from self._until_end_of_call()
            case "calls":
                pass  # to the end of the answer

    def _begin(self) -> Iterator[MarkedPiece | WrittenCall]:
        """Enter `thinking` only at the start of an answer: later text may just mention the mark."""
        text = self._pending.lstrip()
        if text.startswith(_THINK[0]):
            self._pending, self._state = text.removeprefix(_THINK[0]).lstrip("\n"), "thinking"
        elif text and not _THINK[0].startswith(text):
            self._state = "text"
        yield from ()

    def _until_end_of_thinking(self) -> Iterator[MarkedPiece | WrittenCall]:
        thinking, end, rest = self._pending.partition(_THINK[1])
        if end:
            self._pending, self._state = rest.lstrip("\n"), "text"
        else:
            keep = _overlap(thinking, (_THINK[1],))
            thinking, self._pending = (
                thinking[: len(thinking) - keep],
                thinking[-keep:] * bool(keep),
            )
        if thinking:
            yield MarkedPiece("thinking", thinking)

    def _until_mark(self) -> Iterator[MarkedPiece | WrittenCall]:
        marks = (_CALL[0], _CALLS) if self._tools else ()
        positions = [(self._pending.find(mark), mark) for mark in marks if mark in self._pending]
        if positions:
            position, mark = min(positions)
            text, self._pending = self._pending[:position], self._pending[position + len(mark) :]
            self._state = "call" if mark == _CALL[0] else "calls"
        else:
            keep = _overlap(self._pending, marks)
            cut = len(self._pending) - keep
            text, self._pending = self._pending[:cut], self._pending[cut:]
        if text:
            yield MarkedPiece("text", text)

    def _until_end_of_call(self) -> Iterator[MarkedPiece | WrittenCall]:
        body, end, rest = self._pending.partition(_CALL[1])
        if end:
            self._pending, self._state = rest, "text"
            yield from self._read_call(body, f"{_CALL[0]}{body}{_CALL[1]}")
        elif len(body) > _LONGEST:
            self._pending, self._state = "", "text"
            yield MarkedPiece("text", _CALL[0] + body)

    def _read_call(self, body: str, as_text: str) -> Iterator[MarkedPiece | WrittenCall]:
        try:
            call = self._call(json.loads(body))
        except (ValueError, RecursionError):
            call = None
        yield call or MarkedPiece("text", as_text)

    def _read_list(self, body: str) -> Iterator[MarkedPiece | WrittenCall]:
        try:
            entries = json.loads(body)
        except (ValueError, RecursionError):
            entries = None
        calls = [self._call(each) for each in entries] if isinstance(entries, list) else []
        whole = [call for call in calls if call is not None]
        if whole and len(whole) == len(calls):
            yield from whole
        else:
            yield MarkedPiece("text", _CALLS + body)

    def _call(self, value: object) -> WrittenCall | None:
        if not isinstance(value, Mapping) or value.get("name") not in self._tools:
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        if isinstance(arguments, str):
            return WrittenCall(str(value["name"]), arguments)
        return WrittenCall(str(value["name"]), json.dumps(arguments))


def _overlap(text: str, marks: tuple[str, ...]) -> int:
    """Return the number of characters at the end of a text that may begin a mark."""
    longest = max(map(len, marks), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(mark.startswith(text[-size:]) for mark in marks):
            return size
    return 0
