"""The steps that need no model, in order of cost, until the history is small enough."""

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
"""Share of the target that the untouched end of the history may take."""
DROP_SURPLUS: Final = 4
"""How much more than needed goes with the oldest rounds: a drop per request would cost the cache
each time."""
MAX_NAMED: Final = 3
"""Calls that a step names to the user."""

Stage = Callable[[Sequence[Message], int, int], tuple[Message, ...]]
"""Change messages before an index to free some tokens, and return all of them."""


class ShrinkResult(Struct, frozen=True):
    """What the cheap steps came to."""

    messages: tuple[Message, ...]
    tokens: int
    """Estimate for the messages alone."""
    steps: tuple[str, ...]
    """What was done, for users; empty when nothing could be."""


def _media(messages: Sequence[Message], before: int, _tokens: int) -> tuple[Message, ...]:
    return strip_media(messages, before=before)


def _results(messages: Sequence[Message], before: int, _tokens: int) -> tuple[Message, ...]:
    return trim_results(messages, before=before)


def _rounds(messages: Sequence[Message], before: int, tokens: int) -> tuple[Message, ...]:
    return drop_rounds(messages, before=before, tokens=tokens * DROP_SURPLUS)


STAGES: Final[tuple[tuple[str, Stage], ...]] = (
    ("older images and documents removed", _media),
    ("older tool results shortened", _results),
    ("older tool calls removed with their results", _rounds),
)


def protected_from(messages: Sequence[Message], target: int) -> int:
    """Return the index from which the history stays untouched."""
    return tail_start(messages, int(target * TAIL_SHARE))


def shrink(messages: Sequence[Message], *, target: int) -> ShrinkResult:
    """Apply steps until the messages are at most `target` tokens, or none is left."""
    current = tuple(messages)
    tokens = total_tokens(current)
    steps: list[str] = []
    for name, stage in STAGES:
        if tokens <= target:
            break
        changed = stage(current, protected_from(current, target), tokens - target)
        size = total_tokens(changed)
        if size < tokens:
            steps.append(_step(name, current, changed))
            current, tokens = changed, size
    return ShrinkResult(current, tokens, tuple(steps))


def _step(name: str, before: Sequence[Message], after: Sequence[Message]) -> str:
    """Return what a step did, with the calls that it concerns."""
    calls = {use.id: use for message in before for use in message.tool_uses()}
    now = _results_by_call(after)
    changed = [i for i, block in _results_by_call(before).items() if block != now.get(i)]
    concerned = [calls[i] for i in changed if i in calls]
    if not concerned:
        return name
    named = ", ".join(map(_name, concerned[:MAX_NAMED]))
    more = len(concerned) - MAX_NAMED
    return f"{name} ({named}{f' and {more} more' if more > 0 else ''})"


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
