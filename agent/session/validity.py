"""Makes a history that the Messages API accepts from the readable records of a transcript.
Rules: it begins with a user message; every `tool_use` is answered in the very next message, by
results in call order, and no result is without its call; nothing is empty. If a message is
missing, thinking after the gap is dropped, too, as it is bound to every byte before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.messages import Block, Message, text_block, tool_result_block

OUTCOME_UNKNOWN: Final = (
    "[Outcome unknown: the conversation was cut off while this call was running. It was not run "
    "again. Check what it did before you repeat it.]"
)
NOT_RUN: Final = "[Not run: the conversation was cut off before this call started.]"
LOST_RESULT: Final = "[The result of this call was lost.]"
_THINKING: Final = frozenset({"thinking", "redacted_thinking"})


class Gap(Struct, frozen=True):
    """A position in a list of messages at which messages are missing."""


class CallState(Struct, frozen=True):
    """The state of one call, from records other than messages."""

    has_started: bool = False
    block: Block | None = None
    """Its `tool_result`, if it has ended."""


class RepairedHistory(Struct, frozen=True):
    """A valid history, and the calls that had to be completed."""

    messages: tuple[Message, ...]
    unknown_outcomes: tuple[str, ...] = ()
    """Names of tools whose call had started but not ended."""
    not_run: tuple[str, ...] = ()


def make_valid(
    entries: Sequence[Message | Gap], calls: Mapping[str, CallState] | None = None
) -> RepairedHistory:
    """Return the messages as a valid history, with only the necessary changes."""
    return _Repair(calls or {}).run(entries)


class _Repair:
    def __init__(self, calls: Mapping[str, CallState]) -> None:
        self._calls = calls
        self._messages: list[Message] = []
        self._seen_ids: set[str] = set()
        self._open: list[tuple[str, str]] = []  # (id, tool name) of the last assistant message
        self._unknown: list[str] = []
        self._not_run: list[str] = []
        self._after_gap = False

    def run(self, entries: Sequence[Message | Gap]) -> RepairedHistory:
        for entry in entries:
            match entry:
                case Gap():
                    self._after_gap = True
                case Message(role="assistant"):
                    self._answer_open(at_end=False)
                    self._add_assistant(entry)
                case Message():
                    self._add_other(entry)
        self._answer_open(at_end=True)
        return RepairedHistory(
            tuple(self._messages),
            tuple(self._unknown),
            tuple(self._not_run),
        )

    def _add_assistant(self, message: Message) -> None:
        content = [b for b in message.content if not _is_empty_text(b)]
        if self._after_gap:
            remaining = [b for b in content if b.get("type") not in _THINKING]
            content = remaining
        unique = [block for block in content if self._is_new(block)]
        if not unique:
            self._mark_gap()
            return
        if not self._messages:
            # The user message before it is missing; the API requires one first.
            self._mark_gap()
            self._messages.append(
                Message("user", (text_block("[Earlier messages were lost.]"),), "reminder")
            )
            unique = [b for b in unique if b.get("type") not in _THINKING] or [
                text_block("[An earlier answer was lost.]")
            ]
        self._messages.append(_with_content(message, unique))
        self._open = [(b["id"], str(b["name"])) for b in unique if b.get("type") == "tool_use"]

    def _is_new(self, block: Block) -> bool:
        """Record a tool call; return False if it is malformed or a duplicate."""
        if block.get("type") != "tool_use":
            return True
        call_id = block.get("id")
        if not isinstance(call_id, str) or not block.get("name") or call_id in self._seen_ids:
            return False
        self._seen_ids.add(call_id)
        return True

    def _add_other(self, message: Message) -> None:
        results = {
            str(b.get("tool_use_id")): b for b in message.content if b.get("type") == "tool_result"
        }
        rest = [
            b for b in message.content if b.get("type") != "tool_result" and not _is_empty_text(b)
        ]
        orphans = results.keys() - dict(self._open).keys()
        answers = [
            results[call_id]
            if call_id in results
            else self._substitute_result(call_id, name, at_end=False)
            for call_id, name in self._open
        ]
        self._open = []
        if answers and message.role == "system":
            self._messages.append(Message("user", tuple(answers), "tool"))
            answers = []
        content = [*answers, *rest]
        if content:
            self._messages.append(_with_content(message, content))
        if len(results) + len(rest) != len(message.content) or orphans:
            self._mark_gap()

    def _answer_open(self, *, at_end: bool) -> None:
        """Answer every open call in a separate message."""
        if not self._open:
            return
        answers = [
            self._substitute_result(call_id, name, at_end=at_end) for call_id, name in self._open
        ]
        self._open = []
        if not at_end:
            self._mark_gap()
        self._messages.append(Message("user", tuple(answers), "tool"))

    def _substitute_result(self, call_id: str, name: str, *, at_end: bool) -> Block:
        """Return a substitute result for an unanswered call, the same on every resume.

        A call left open by a crash is reported once, at the end of the history; earlier ones were
        reported before, and the conversation continued from exactly these results.
        """
        state = self._calls.get(call_id, CallState())
        if state.block is not None and state.block.get("tool_use_id") == call_id:
            return state.block
        if state.has_started:
            if at_end:
                self._unknown.append(name)
            return tool_result_block(call_id, OUTCOME_UNKNOWN, is_error=True)
        if self._after_gap and not at_end:
            return tool_result_block(call_id, LOST_RESULT, is_error=True)
        if at_end:
            self._not_run.append(name)
        return tool_result_block(call_id, NOT_RUN, is_error=True)

    def _mark_gap(self) -> None:
        self._after_gap = True


def _with_content(message: Message, content: list[Block]) -> Message:
    if len(content) == len(message.content) and all(
        a is b for a, b in zip(content, message.content, strict=True)
    ):
        return message
    return replace(message, content=tuple(content))


def _is_empty_text(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text", "")).strip()
