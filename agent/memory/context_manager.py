"""Decides when a history is compacted, and compacts it; implements the loop's `ContextPort`.

The steps, in order: none; images, old results and the oldest calls; stored notes on the session; a
summary by the model; at the very end of the window, or if the model fails, a digest without it.
Messages that the model has not answered yet are never changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Literal, Protocol

from msgspec import Struct

from agent.abort import Aborted, AbortSignal
from agent.events import Compacted, CompactionMeans
from agent.history import HistoryPart
from agent.loop.loop_ports import ContextPort, ContextStep
from agent.memory.budget import CompactionState, ContextBudget, Pressure, too_small
from agent.memory.cut_points import unread_start
from agent.memory.endpoint_summary import EndpointSummaryPort
from agent.memory.estimate import next_request_tokens, total_tokens
from agent.memory.partial_summary import asked_about, focus_on, is_preface, part_start, replace_part
from agent.memory.stages.digest import digest
from agent.memory.stages.images import strip_media
from agent.memory.stages.result_trimming import trim_results
from agent.memory.stages.summary import instruction, replace_past
from agent.memory.summarizer import SummaryPort
from agent.messages import Message
from agent.model.client import ModelError
from agent.model.text_tokens import text_tokens
from hooks.answers.outcome import EventOutcome

MIN_GAIN: Final = 0.9
"""A result larger than this share of the old size is not progress."""

ROUND_SHARE: Final = 0.6
"""Share of the room for messages that the results of one round may take: they stay until the model
has answered, and the next request has to fit."""

SUMMARY_TOKENS: Final = 4_000
"""Tokens of the window that a request for a summary leaves for the summary."""

SAID_BEFORE: Final = (
    "The model's window has no room for the prompt beside the system prompt and the tools, as "
    "said before."
)
_OVERFULL: Final = (
    "There was no room to summarize the conversation, so it was compacted without a summary: the"
    " model continues from an outline. The transcript keeps all of it. A very long text is better"
    " put into a file, which the model reads in parts."
)

Trigger = Literal["manual", "auto", "reactive"]


class CompactionHooks(Protocol):
    """The hook events around a compaction."""

    async def pre_compact(self, trigger: str, instructions: str) -> EventOutcome | None:
        """Fire PreCompact; None if no handler matches."""
        ...

    async def post_compact(self, trigger: str, summary: str) -> None:
        """Fire PostCompact."""
        ...


class ContextManagerPorts(Struct, frozen=True):
    """What compaction needs from the conversation."""

    budget: Callable[[], ContextBudget]
    """Budget of the model in use."""
    prefix_tokens: Callable[[], int]
    """Estimate of system prompt and tools."""
    turn_id: Callable[[], str]
    summary: SummaryPort
    endpoint_summary: EndpointSummaryPort | None = None
    hooks: CompactionHooks | None = None
    notes_on: Callable[[Sequence[Message], int], str | None] = lambda _messages, _end: None
    """Returns stored notes on the session that cover the messages before an index."""
    is_automatic: Callable[[], bool] = lambda: True
    """`autoCompactEnabled`."""


class ContextManager:
    """Compaction of one conversation."""

    def __init__(self, ports: ContextManagerPorts, *, agent_id: str | None = None) -> None:
        """Start without earlier attempts."""
        self._ports = ports
        self._agent_id = agent_id
        self._has_warned = False
        self._last_advice: str | None = None
        self._ratio = 1.0
        self.state = CompactionState()

    def size_advice(self) -> str | None:
        """See `ContextPort`."""
        advice = too_small(self._ports.prefix_tokens(), self._ports.budget())
        if advice is not None and advice == self._last_advice:
            return SAID_BEFORE
        self._last_advice = advice
        return advice

    def _is_too_small(self) -> bool:
        return too_small(self._ports.prefix_tokens(), self._ports.budget()) is not None

    def round_tokens(self) -> int:
        """See `ContextPort`."""
        room = self._ports.budget().trigger / self._ratio - self._ports.prefix_tokens()
        return max(1, int(room * ROUND_SHARE))

    async def before_request(
        self, messages: tuple[Message, ...], context_tokens: int, abort: AbortSignal
    ) -> ContextStep | None:
        """Compact if the window is nearly full; None if that is not needed."""
        if not self._ports.is_automatic() or self._is_too_small():
            return None
        prefix = self._ports.prefix_tokens()
        tokens = next_request_tokens(messages, context_tokens, prefix)
        self._ratio = max(1.0, tokens / (prefix + total_tokens(messages)))
        pressure = self._ports.budget().pressure(tokens)
        if pressure is Pressure.NONE:
            return None
        if not self.state.is_open:
            return await self._compact(messages, tokens, "auto", "", abort, pressure)
        if pressure is Pressure.CRITICAL:  # an outline needs no model
            step = await self._compact(messages, tokens, "auto", "", abort, pressure)
            if step is not None and step.event is not None:
                return step
        return self._stop_retrying(messages)

    async def after_overflow(
        self, messages: tuple[Message, ...], abort: AbortSignal
    ) -> ContextStep | None:
        """Compact because the endpoint rejected the prompt as too long: once in a session."""
        has_room = self._ports.prefix_tokens() < self._ports.budget().window
        if self.state.reactive_used or not has_room:
            return None
        self.state = self.state.reactive()
        tokens = self._ports.prefix_tokens() + await asyncio.to_thread(total_tokens, messages)
        step = await self._compact(messages, tokens, "reactive", "", abort, Pressure.CRITICAL)
        has_failed = step is not None and step.event is None
        # If prompt and tools fill the window, only that is reported.
        return None if has_failed and self._is_too_small() else step

    async def compact(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> ContextStep | None:
        """Compact on the user's request; None if there is nothing to gain."""
        if len(messages) < 3:
            return None
        tokens = self._ports.prefix_tokens() + await asyncio.to_thread(total_tokens, messages)
        return await self._compact(messages, tokens, "manual", focus, abort, Pressure.COMPACT)

    async def compact_range(
        self, messages: tuple[Message, ...], part: HistoryPart, abort: AbortSignal
    ) -> ContextStep | None:
        """Replace what came before or since a prompt by a summary; None if nothing is gained."""
        start = part_start(messages, part)
        if start is None:
            text = "That message is behind a summary already."
            return ContextStep(messages, notices=(text,))
        focus = focus_on(messages, part)
        veto = await self._veto_reason("manual", focus)
        if veto is not None:
            return ContextStep(messages, notices=(veto,))
        excerpt = asked_about(messages, start, part.side)
        if len(excerpt) < 2:
            return None
        try:
            ask = instruction(focus)
            summary = await self._ports.summary.summarize(excerpt, ask, abort)
        except Aborted:
            return None
        except ModelError as error:
            text = f"The conversation could not be compacted: {error} It stays as it is."
            return ContextStep(messages, notices=(text,))
        tokens = self._ports.prefix_tokens() + await asyncio.to_thread(total_tokens, messages)
        new_messages = replace_part(messages, start, part.side, summary)
        is_past = part.side == "before"
        return await self._finish(
            messages, new_messages, tokens, "manual", summary, (), has_same_end=is_past
        )

    async def _compact(
        self,
        messages: tuple[Message, ...],
        tokens: int,
        trigger: Trigger,
        focus: str,
        abort: AbortSignal,
        pressure: Pressure,
    ) -> ContextStep | None:
        from agent.memory.pipeline import (
            protected_from,
            shrink,
        )  # only with a full window

        veto = await self._veto_reason(trigger, focus)
        if veto is not None:
            return ContextStep(messages, notices=(veto,))
        room = self._target_tokens(messages, tokens, trigger)
        # Large histories are processed in a thread, so that the screen stays responsive.
        start = await asyncio.to_thread(protected_from, messages, room)
        has_past = _can_save_enough(messages, start, trigger)
        if trigger != "manual":
            shrunk = await asyncio.to_thread(shrink, messages, target=room)
            if shrunk.steps and (shrunk.tokens <= room or not has_past):
                summary = f"To save room: {'; '.join(shrunk.steps)}."
                return await self._finish(
                    messages, shrunk.messages, tokens, trigger, summary, (), means="shortening"
                )
        if not has_past:
            # The window is filled by unread messages, which a summary must not answer; or the
            # history is short. No request was made.
            return None
        try:
            ready = await self._available_summary(messages, start, trigger, focus, abort, pressure)
        except Aborted:
            return None
        if ready is not None:
            new_messages, summary = ready
            return await self._finish(messages, new_messages, tokens, trigger, summary, ())
        try:
            summary, notices = await self._summary(messages, focus, abort, pressure)
        except Aborted:
            return None
        except ModelError as error:
            self.state = self.state.after_failure()
            text = f"The conversation could not be compacted: {error} It stays as it is."
            return ContextStep(messages, notices=(text,))
        history = replace_past(messages, start, summary)
        return await self._finish(messages, history, tokens, trigger, summary, notices)

    async def _available_summary(
        self,
        messages: tuple[Message, ...],
        start: int,
        trigger: Trigger,
        focus: str,
        abort: AbortSignal,
        pressure: Pressure,
    ) -> tuple[tuple[Message, ...], str] | None:
        """Return a history with a stored summary or one by the endpoint, and that summary; None if
        the model has to be asked. Raises Aborted."""
        if trigger == "auto" and (notes := self._ports.notes_on(messages, start)) is not None:
            # Written during the conversation: this summary costs nothing now.
            return replace_past(messages, start, notes), notes
        if pressure is Pressure.CRITICAL:
            return None
        history = await self._with_signed_summary(messages, start, focus, abort)
        return None if history is None else (history, str(history[0].content[0]["content"]))

    async def _with_signed_summary(
        self, messages: tuple[Message, ...], start: int, focus: str, abort: AbortSignal
    ) -> tuple[Message, ...] | None:
        """Return a history that begins with the endpoint's own summary; None if it writes none.

        The messages after the summary are unchanged, thinking included. Raises Aborted.
        """
        port = self._ports.endpoint_summary
        if port is None or not port.is_available():
            return None
        while start and is_preface(messages[start - 1]):
            start -= 1  # notes before a prompt belong to its turn
        if not start or messages[start - 1].role != "assistant":
            return None  # a summary must not cover an unanswered message
        try:
            return (await port.compact(messages[:start], focus, abort), *messages[start:])
        except ModelError:
            return None

    def _target_tokens(self, messages: Sequence[Message], tokens: int, trigger: Trigger) -> int:
        """Return the target size of the messages, in tokens by our estimate."""
        budget = self._ports.budget()
        prefix = self._ports.prefix_tokens()
        target = budget.target
        if trigger == "reactive" and tokens < budget.window:
            # The endpoint counts more tokens than we do, so the target is scaled down.
            target = target * tokens // budget.window
        elif trigger == "auto":
            target = int(target / self._ratio)
        unread = total_tokens(messages[unread_start(messages) :])
        room = max(1, target - prefix)
        room = max(room, unread + room // 2)
        # A compaction requested in a short conversation should replace most of it.
        return min(room, max(1, total_tokens(messages) // 2)) if trigger == "manual" else room

    async def _summary(
        self,
        messages: tuple[Message, ...],
        focus: str,
        abort: AbortSignal,
        pressure: Pressure,
    ) -> tuple[str, tuple[str, ...]]:
        """Return a summary and notices: the model's, or a digest if the window is full.

        Raises:
            ModelError: the model failed, and there is enough room to continue without a summary.
            Aborted: the user interrupted.
        """
        ask = instruction(focus)
        if pressure is not Pressure.CRITICAL:
            return await self._ports.summary.summarize(messages, ask, abort), ()
        # The whole history no longer fits into a request, but a trimmed one may.
        everything = len(messages)
        bones = trim_results(strip_media(messages, end=everything), end=everything)
        size = await asyncio.to_thread(total_tokens, bones)
        budget = self._ports.budget()
        most = max(budget.trigger, budget.window - SUMMARY_TOKENS)
        if (self._ports.prefix_tokens() + size) * self._ratio > most or self.state.is_open:
            return _digest_text(messages), (_OVERFULL,)
        try:
            summary = await self._ports.summary.summarize(bones, ask, abort)
            if text_tokens(summary) <= SUMMARY_TOKENS:
                return summary, ()
            reason = "Its summary is too long"
        except ModelError as error:
            reason = str(error).rstrip(".")
        why = f"The model could not summarize ({reason}): compacted to an outline instead."
        return _digest_text(messages), (why,)

    async def _finish(
        self,
        old_messages: Sequence[Message],
        new_messages: tuple[Message, ...],
        tokens: int,
        trigger: Trigger,
        summary: str,
        notices: tuple[str, ...],
        *,
        means: CompactionMeans = "summary",
        has_same_end: bool = True,
    ) -> ContextStep:
        size_before = await asyncio.to_thread(total_tokens, old_messages)
        size_after = await asyncio.to_thread(total_tokens, new_messages)
        if size_after >= size_before * MIN_GAIN:
            self.state = self.state.after_failure()
            text = "Compaction freed too little: the latest messages fill the window."
            if trigger == "manual":
                text = (
                    "The summary would take as much room as the conversation, which stays as it is."
                )
            return ContextStep(tuple(old_messages), notices=(*notices, text))
        self.state = self.state.after_success()
        self._has_warned = False
        if self._ports.hooks is not None:
            await self._ports.hooks.post_compact(_hook_trigger(trigger), summary)
        event = Compacted(
            turn_id=self._ports.turn_id(),
            trigger=trigger,
            tokens_before=tokens,
            tokens_after=self._ports.prefix_tokens() + size_after,
            summary=summary,
            agent_id=self._agent_id,
            means=means,
            kept_count=len({m.uid for m in new_messages} & {m.uid for m in old_messages})
            if has_same_end and means == "summary"
            else 0,
        )
        return ContextStep(new_messages, event, notices)

    async def _veto_reason(self, trigger: Trigger, focus: str) -> str | None:
        if self._ports.hooks is None:
            return None
        outcome = await self._ports.hooks.pre_compact(_hook_trigger(trigger), focus)
        if outcome is None or outcome.decision not in ("block", "deny"):
            return None
        return f"A hook stopped the compaction: {outcome.reason or 'no reason given'}"

    def _stop_retrying(self, messages: tuple[Message, ...]) -> ContextStep | None:
        if self._has_warned:
            return None
        self._has_warned = True
        text = (
            f"Compaction failed {self.state.consecutive_failures} times in a row and is not tried "
            "again by itself. /compact tries once more, /rewind goes back, /clear starts over."
        )
        return ContextStep(messages, notices=(text,))


if TYPE_CHECKING:

    def _check_protocol(ports: ContextManagerPorts) -> ContextPort:
        return ContextManager(ports)


def _digest_text(messages: Sequence[Message]) -> str:
    return digest(messages) or "(nothing was done yet)"


def _can_save_enough(messages: Sequence[Message], start: int, trigger: Trigger) -> bool:
    """Return whether even the shortest summary of what precedes `start` would save enough."""
    size = total_tokens(messages)
    least = 0
    if trigger == "manual":
        least = total_tokens(replace_past(messages, start, ""))
    return total_tokens(messages[:start]) > size * (1 - MIN_GAIN) and least < size * MIN_GAIN


def _hook_trigger(trigger: Trigger) -> str:
    return "manual" if trigger == "manual" else "auto"
