"""The steps that need no model, in order of cost, until the history is small enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from agent.memory.cut_points import tail_start
from agent.memory.estimate import total_tokens
from agent.memory.stages.images import strip_media
from agent.memory.stages.result_trimming import trim_results
from agent.messages import Message

TAIL_SHARE: Final = 0.4
"""Share of the target that the untouched end of the history may take."""

Stage = Callable[[Sequence[Message], int], tuple[Message, ...]]
"""Change messages before an index and return all of them."""


class ShrinkResult(Struct, frozen=True):
    """What the cheap steps came to."""

    messages: tuple[Message, ...]
    tokens: int
    """Estimate for the messages alone."""
    steps: tuple[str, ...]
    """What was done, for users; empty when nothing could be."""


def _media(messages: Sequence[Message], before: int) -> tuple[Message, ...]:
    return strip_media(messages, before=before)


def _results(messages: Sequence[Message], before: int) -> tuple[Message, ...]:
    return trim_results(messages, before=before)


STAGES: Final[tuple[tuple[str, Stage], ...]] = (
    ("older images and documents were taken out", _media),
    ("older tool results were shortened", _results),
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
        changed = stage(current, protected_from(current, target))
        size = total_tokens(changed)
        if size < tokens:
            current, tokens = changed, size
            steps.append(name)
    return ShrinkResult(current, tokens, tuple(steps))
