"""Applies the steps that need no model, in order of cost, until the history is small enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
from typing import Final

from msgspec import Struct

from agent.memory.cut_points import tail_start
from agent.memory.estimate import total_tokens
from agent.memory.stages.images import strip_media
from agent.memory.stages.result_trimming import trim_results
from agent.memory.stages.round_dropping import call_line, drop_rounds
from agent.messages import Block, Message, ToolUse

TAIL_SHARE: Final = 0.4
"""Share of the target that the unchanged end of the history may take."""
DROP_SURPLUS: Final = 4
"""Factor by which more of the oldest rounds is removed than needed, as every removal invalidates
the cache."""
MAX_NAMED: Final = 3
"""Most calls that a step names to the user."""

Stage = Callable[[Sequence[Message], int, int], tuple[Message, ...]]
"""Changes messages before an index to free some tokens, and returns all messages."""


class ShrinkResult(Struct, frozen=True):
    """The result of the steps."""

    messages: tuple[Message, ...]
    tokens: int
    """Estimate for the messages alone."""
    steps: tuple[str, ...]
    """What was done, for users; empty if nothing could be done."""


def _media(messages: Sequence[Message], end: int, _tokens: int) -> tuple[Message, ...]:
    return strip_media(messages, end=end)


def _results(messages: Sequence[Message], end: int, _tokens: int) -> tuple[Message, ...]:
    return trim_results(messages, end=end)


def _rounds(messages: Sequence[Message], end: int, tokens: int) -> tuple[Message, ...]:
    return drop_rounds(messages, end=end, tokens=tokens * DROP_SURPLUS)


STAGES: Final[tuple[tuple[str, Stage], ...]] = (
    ("older images and documents removed", _media),
    ("older tool results shortened", _results),
    ("older tool calls removed with their results", _rounds),
)


def protected_from(messages: Sequence[Message], target: int) -> int:
    """Return the index from which the history stays unchanged."""
    return tail_start(messages, int(target * TAIL_SHARE))


def shrink(messages: Sequence[Message], *, target: int) -> ShrinkResult:
    """Apply steps until the messages are at most `target` tokens, or no step is left."""
    current = tuple(messages)
    tokens = total_tokens(current)
    steps: list[str] = []
    for name, stage in STAGES:
        if tokens <= target:
            break
        candidate = stage(current, protected_from(current, target), tokens - target)
        size = total_tokens(candidate)
        if size < tokens:
            steps.append(_step(name, current, candidate))
            current, tokens = candidate, size
    return ShrinkResult(current, tokens, tuple(steps))


def _step(name: str, old_messages: Sequence[Message], new_messages: Sequence[Message]) -> str:
    """Return a description of a step, with the calls that it affected."""
    calls = {use.id: use for message in old_messages for use in message.tool_uses()}
    now = _results_by_call(new_messages)
    call_ids = [i for i, block in _results_by_call(old_messages).items() if block != now.get(i)]
    changed_calls = [calls[i] for i in call_ids if i in calls]
    if not changed_calls:
        return name
    names = ", ".join(map(_name, changed_calls[:MAX_NAMED]))
    more = len(changed_calls) - MAX_NAMED
    return f"{name} ({names}{f' and {more} more' if more > 0 else ''})"


def _name(use: ToolUse) -> str:
    path = use.input.get("file_path")
    return f"{use.name} {PurePath(path).name}" if isinstance(path, str) else call_line(use)


def _results_by_call(messages: Sequence[Message]) -> Mapping[str, Block]:
    return {
        str(block.get("tool_use_id")): block
        for message in messages
        for block in message.content
        if block.get("type") == "tool_result"
    }
