"""The agent loop: a two-state machine as an async generator over `AgentEvent`.

Await the model's response; when it holds tool calls run them and go round, else stop. The state is
replaced wholesale with a typed reason at every continue site, the history stays valid on every
path. Source: the pattern "agent-loop". Next: `agent.turn` (one response), `agent.tools.dispatch`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol, assert_never

from agent.abort import AbortController, AbortSignal, has_fired
from agent.budget import BudgetTracker, ContinueBudget, check_token_budget
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    MessageCommitted,
    Notice,
    Terminal,
    TerminalReason,
    Usage,
)
from agent.history import (
    INTERRUPTED_FOR_TOOL_NOTE,
    INTERRUPTED_NOTE,
    interruption,
    synthetic_results,
)
from agent.messages import Message, ToolUse, tool_results_message, user_message
from agent.model.client import ModelClient, ModelRequest
from agent.recovery.classify import FailureKind
from agent.side_work import SideWork
from agent.state import LoopState
from agent.tools.call import CallOutcome, CallPorts
from agent.tools.dispatch import Dispatcher
from agent.turn import Answered, Failed, Interrupted, ModelTurn, Recovery
from hooks.outcome import EventOutcome

MAX_OUTPUT_RECOVERIES: Final = 3
MAX_PAUSES: Final = 10
MAX_STOP_HOOK_BLOCKS: Final = 8
CONTINUATION: Final = (
    "Your answer was cut off by the output limit. Continue exactly where it stopped, without "
    "repeating or apologising."
)


class TurnHooks(Protocol):
    """The hook events around a whole turn; `agent.hook_dispatch` implements it."""

    async def stop(
        self, last_text: str, *, active: bool, abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire Stop (SubagentStop in a sub-agent); None when no handler matches."""
        ...

    async def stop_failure(self, kind: str, detail: str) -> None:
        """Tell StopFailure handlers; their answers count for nothing."""
        ...

    async def post_tool_batch(
        self, outcomes: Sequence[tuple[ToolUse, CallOutcome]], abort: AbortSignal
    ) -> EventOutcome | None:
        """Fire PostToolBatch once for all calls of a turn."""
        ...

    def notices(self) -> list[AgentEvent]:
        """Return what hooks have to show the person since the last call; empties the list."""
        ...

    def late_context(self) -> list[str]:
        """Return what background hooks brought for the model since the last call."""
        ...


@dataclass(frozen=True, slots=True)
class ContextStep:
    """What context management did before a request."""

    messages: tuple[Message, ...]
    event: Compacted | None = None
    notices: tuple[str, ...] = ()


class ContextPort(Protocol):
    """Keeps the conversation inside the model's window; `agent.memory` implements it."""

    async def before_request(
        self, messages: tuple[Message, ...], context_tokens: int, abort: AbortSignal
    ) -> ContextStep | None:
        """Return a replaced history, or None when nothing needs doing."""
        ...

    async def after_overflow(
        self, messages: tuple[Message, ...], abort: AbortSignal
    ) -> ContextStep | None:
        """Compact after the endpoint refused the prompt; None when that was tried before."""
        ...

    async def by_wish(
        self, messages: tuple[Message, ...], focus: str, abort: AbortSignal
    ) -> ContextStep | None:
        """Compact because the person said so; None when there is nothing to gain."""
        ...


AfterCalls = Callable[[Sequence[tuple[ToolUse, CallOutcome]]], Awaitable[list[str]]]


@dataclass(frozen=True, slots=True)
class LoopPorts:
    """Everything one agent's loop works with."""

    client: ModelClient
    recovery: Recovery
    calls: CallPorts
    hooks: TurnHooks
    request: Callable[[tuple[Message, ...]], ModelRequest]
    """Build the request for a history; `system` and `tools` are the same every time."""
    account: Callable[[Usage, str, str, str | None], AgentEvent]
    """Add a response to the totals: usage, model, turn and agent; returns the `UsageUpdate`."""
    spent: Callable[[], str | None]
    """Why no further request may be made (a budget), or None."""
    queued: Callable[[], Awaitable[list[Message]]]
    """Take the messages the person sent meanwhile."""
    reports: Callable[[], list[str]] = list
    """Take what ended in the background since the last request, as texts for the model."""
    context: ContextPort | None = None
    after_calls: AfterCalls | None = None
    """Told of the calls of a turn; returns what they bring in for the model, such as the
    instructions of a folder in use."""


class AgentLoop:
    """One prompt's run. Iterate `run`; `messages` is the valid history afterwards and at any
    time."""

    def __init__(
        self,
        ports: LoopPorts,
        *,
        turn_id: str,
        agent_id: str | None = None,
        max_turns: int,
        token_budget: int | None = None,
    ) -> None:
        """`max_turns` counts model responses; `token_budget` output tokens."""
        self._ports = ports
        self._turn_id = turn_id
        self._agent_id = agent_id
        self._max_turns = max_turns
        self._budget = BudgetTracker(token_budget) if token_budget else None
        self._output_tokens = 0
        self._context_tokens = 0
        self._step = 0
        self.messages: tuple[Message, ...] = ()

    async def run(
        self, history: tuple[Message, ...], new: Sequence[Message], abort: AbortController
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield events until the one `Terminal`; `new` is committed before the first request."""
        self.messages = history
        for message in new:
            yield self._commit(message)
        state = LoopState(messages=self.messages)
        try:
            while True:
                next_state: LoopState | None = None
                async for item in self._step_once(state, abort):
                    if isinstance(item, LoopState):
                        next_state = item
                    else:
                        yield item
                if next_state is None:
                    return
                state = next_state
        finally:
            # The generator may be abandoned anywhere: no call may stay open in the history.
            self._close_open_calls(INTERRUPTED_NOTE)

    # -- one round --------------------------------------------------------------------------

    async def _step_once(
        self, state: LoopState, abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        """One model response and its tools: yields events, then the next state or a `Terminal`."""
        signal = abort.signal
        if signal.aborted:
            for event in self._interrupted("aborted_streaming", state):
                yield event
            return
        spent = self._ports.spent()
        if spent is not None:
            yield Notice(self._turn_id, "warning", spent, agent_id=self._agent_id)
            yield self._terminal("budget_exceeded", state, spent)
            return
        for text in self._ports.hooks.late_context():
            yield self._commit(user_message(text, origin="hook"))
        for text in self._ports.reports():
            yield Notice(self._turn_id, "info", text, agent_id=self._agent_id)
            yield self._commit(user_message(text, origin="reminder"))
        if self._ports.context is not None:
            work = self._beside(
                self._ports.context.before_request(self.messages, self._context_tokens, signal)
            )
            async for event in work.events():
                yield event
            if work.result is not None:
                for event in self._replaced(work.result):
                    yield event
        state = replace(state, messages=self.messages)
        self._step += 1
        turn = ModelTurn(
            self._ports.client,
            self._ports.recovery,
            self._ports.request(state.messages),
            turn_id=self._turn_id,
            step=self._step,
            agent_id=self._agent_id,
        )
        async for event in turn.run(signal):
            yield event
        for event in self._ports.hooks.notices():
            yield event
        result = turn.result
        assert result is not None
        match result:
            case Answered():
                async for item in self._after_answer(state, result, abort):
                    yield item
            case Interrupted():
                for event in self._after_interrupt(state, result):
                    yield event
            case Failed():
                async for item in self._after_failure(state, result, signal):
                    yield item
            case _:
                assert_never(result)

    async def _after_answer(
        self, state: LoopState, answer: Answered, abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        needs_follow_up = bool(answer.tool_uses)
        yield Complete(
            self._turn_id,
            answer.message.uid,
            answer.stop_reason,
            answer.usage,
            agent_id=self._agent_id,
        )
        if answer.message.content:
            yield self._commit(answer.message)
        self._output_tokens += answer.usage.output_tokens
        self._context_tokens = answer.usage.prompt_tokens + answer.usage.output_tokens
        yield self._account(answer.usage, answer.message.model)
        state = replace(state, messages=self.messages)

        if answer.stop_reason == "refusal":
            if needs_follow_up:
                yield self._commit(
                    tool_results_message(
                        synthetic_results(answer.tool_uses, "Not run: the model refused this turn.")
                    )
                )
            detail = answer.stop_detail or "the model declined to answer"
            yield self._terminal("refusal", state, detail, turns=state.turn_count + 1)
            return
        if answer.stop_reason == "pause_turn" and not needs_follow_up:
            if state.pause_count >= MAX_PAUSES:
                yield self._terminal("completed", state, "the model paused too often", turns=1)
                return
            yield state.advance("pause_turn")
            return
        if needs_follow_up:
            async for item in self._after_tools(state, answer, abort):
                yield item
            return
        if answer.stop_reason == "max_tokens" and state.recovery_count < MAX_OUTPUT_RECOVERIES:
            note = user_message(CONTINUATION, origin="continuation")
            yield self._commit(note)
            yield state.advance("max_output_tokens_recovery", note)
            return
        if answer.stop_reason == "max_tokens":
            yield Notice(
                self._turn_id,
                "warning",
                "The answer hit the output limit again and was left as it is. "
                "Ask it to continue if something is missing.",
                agent_id=self._agent_id,
            )
        if answer.stop_reason == "model_context_window_exceeded":
            async for item in self._overflow(state, "the context window is full", abort.signal):
                yield item
            return
        async for item in self._finish(state, answer, abort.signal):
            yield item

    async def _finish(
        self, state: LoopState, answer: Answered, signal: AbortSignal
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        turns = state.turn_count + 1
        if signal.aborted:
            for event in self._interrupted("aborted_streaming", state):
                yield event
            return
        outcome = await self._ports.hooks.stop(
            answer.message.text, active=state.stop_hook_blocks > 0, abort=signal
        )
        for event in self._ports.hooks.notices():
            yield event
        if outcome is not None:
            if not outcome.continue_:
                yield self._terminal(
                    "stop_hook_prevented", state, outcome.stop_reason or "", turns=turns
                )
                return
            feedback = "\n".join(
                text
                for text in (
                    outcome.reason if outcome.decision in {"block", "deny"} else None,
                    outcome.additional_context,
                )
                if text
            )
            if feedback and state.stop_hook_blocks < MAX_STOP_HOOK_BLOCKS:
                if turns >= self._max_turns:
                    yield self._terminal("max_turns", state, turns=turns)
                    return
                note = user_message(feedback, origin="hook")
                yield self._commit(note)
                yield replace(
                    state.advance("stop_hook_blocking", note, detail=feedback[:200]),
                    turn_count=turns,
                )
                return
            if feedback:
                yield Notice(
                    self._turn_id,
                    "warning",
                    f"Stop hooks asked to continue {MAX_STOP_HOOK_BLOCKS} times in a row; "
                    "the turn ends here.",
                    agent_id=self._agent_id,
                )
        if self._budget is not None:
            verdict = check_token_budget(self._budget, self._output_tokens)
            if isinstance(verdict, ContinueBudget):
                self._budget = verdict.tracker
                note = user_message(verdict.nudge, origin="continuation")
                yield self._commit(note)
                yield state.advance("token_budget_continuation", note)
                return
        if not answer.message.text.strip():
            # Otherwise the screen would stand still and look broken.
            text = "The model ended its answer without a word."
            yield Notice(self._turn_id, "info", text, agent_id=self._agent_id)
        yield self._terminal("completed", state, turns=turns)

    async def _after_tools(
        self, state: LoopState, answer: Answered, abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        uses = answer.tool_uses
        turns = state.turn_count + 1
        if abort.signal.aborted:
            yield self._commit(tool_results_message(synthetic_results(uses, INTERRUPTED_NOTE)))
            for event in self._interrupted("aborted_streaming", state, turns=turns):
                yield event
            return
        dispatcher = Dispatcher(self._ports.calls, turn_id=self._turn_id, agent_id=self._agent_id)
        try:
            async for event in dispatcher.run(uses, abort):
                yield event
                for note in self._ports.hooks.notices():
                    yield note
        finally:
            committed = self._commit_results(uses, dispatcher)
        yield committed
        for event in self._ports.hooks.notices():
            yield event
        outcomes = [
            (use, dispatcher.outcomes[use.id]) for use in uses if use.id in dispatcher.outcomes
        ]
        state = replace(state, messages=self.messages)
        context = [text for _, outcome in outcomes for text in outcome.additional_context]
        if has_fired(abort.signal):
            for event in self._interrupted("aborted_tools", state, turns=turns):
                yield event
            return
        stopped = next((outcome for _, outcome in outcomes if outcome.ends_turn), None)
        if stopped is not None:
            if stopped.stop_reason:
                yield self._terminal("stop_hook_prevented", state, stopped.stop_reason, turns=turns)
            else:
                for event in self._interrupted(
                    "aborted_tools", state, turns=turns, note=INTERRUPTED_FOR_TOOL_NOTE
                ):
                    yield event
            return
        batch = await self._ports.hooks.post_tool_batch(outcomes, abort.signal)
        for event in self._ports.hooks.notices():
            yield event
        if batch is not None:
            if batch.additional_context:
                context.append(batch.additional_context)
            if not batch.continue_ or batch.decision in {"block", "deny"}:
                reason = (
                    batch.stop_reason or batch.reason or "a PostToolBatch hook stopped the turn"
                )
                yield self._terminal("stop_hook_prevented", state, reason, turns=turns)
                return
        if context:
            yield self._commit(user_message("\n\n".join(context), origin="hook"))
        if self._ports.after_calls is not None:
            for text in await self._ports.after_calls(outcomes):
                yield self._commit(user_message(text, origin="reminder"))
            for event in self._ports.hooks.notices():
                yield event
        queued = await self._ports.queued()
        for message in queued:
            yield self._commit(message)
        state = replace(state, messages=self.messages)
        if turns >= self._max_turns:
            yield self._terminal(
                "max_turns", state, f"the limit of {self._max_turns} turns is reached", turns=turns
            )
            return
        yield state.advance("queued_prompt" if queued else "next_turn")

    def _commit_results(
        self, uses: tuple[ToolUse, ...], dispatcher: Dispatcher
    ) -> MessageCommitted:
        """Commit one result per call, in call order; calls that never started get a synthetic
        one."""
        blocks = []
        for use in uses:
            outcome = dispatcher.outcomes.get(use.id)
            if outcome is not None:
                blocks.append(outcome.block)
            else:
                blocks.extend(
                    synthetic_results([use], "Not run: the turn ended before this call started.")
                )
        return self._commit(tool_results_message(blocks))

    def _after_interrupt(self, state: LoopState, result: Interrupted) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        if result.message is not None:
            events.append(self._commit(result.message))
            if result.tool_uses:
                events.append(
                    self._commit(
                        tool_results_message(synthetic_results(result.tool_uses, INTERRUPTED_NOTE))
                    )
                )
        if result.usage != Usage():
            events.append(self._account(result.usage, None))
        state = replace(state, messages=self.messages)
        return [*events, *self._interrupted("aborted_streaming", state)]

    async def _after_failure(
        self, state: LoopState, result: Failed, signal: AbortSignal
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        if result.failure.kind is FailureKind.CONTEXT_OVERFLOW:
            async for item in self._overflow(state, result.failure.message, signal):
                yield item
            return
        if result.message is not None and not result.message.tool_uses():
            yield self._commit(result.message)
        yield ErrorEvent(
            self._turn_id,
            str(result.failure.kind),
            result.fail.text,
            result.error.request_id,
            agent_id=self._agent_id,
        )
        await self._ports.hooks.stop_failure(result.error.kind, result.failure.message)
        for event in self._ports.hooks.notices():
            yield event
        yield self._terminal("error", state, result.failure.message)

    async def _overflow(
        self, state: LoopState, detail: str, signal: AbortSignal
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        """Compact once per session, else end: the guard lives in the context port."""
        context = self._ports.context
        step = None
        if context is not None:
            work = self._beside(context.after_overflow(self.messages, signal))
            async for event in work.events():
                yield event
            step = work.result
        if step is not None:
            for event in self._replaced(step):
                yield event
            yield replace(state, messages=self.messages).advance("reactive_compact_retry")
            return
        yield ErrorEvent(
            self._turn_id,
            "prompt_too_long",
            f"The conversation no longer fits the model's window ({detail}). "
            "Use /compact to shorten it, /rewind to go back, or /clear to start afresh.",
            agent_id=self._agent_id,
        )
        await self._ports.hooks.stop_failure("invalid_request", detail)
        yield self._terminal("prompt_too_long", state, detail)

    # -- pieces -----------------------------------------------------------------------------

    def _beside(self, work: Awaitable[ContextStep | None]) -> SideWork[ContextStep | None]:
        """Start context work so that its waits can be shown."""
        return SideWork(
            work, self._ports.calls.side, turn_id=self._turn_id, agent_id=self._agent_id
        )

    def _replaced(self, step: ContextStep) -> list[AgentEvent]:
        self.messages = step.messages
        events: list[AgentEvent] = [
            Notice(self._turn_id, "info", text, agent_id=self._agent_id) for text in step.notices
        ]
        if step.event is not None:
            self._context_tokens = step.event.tokens_after
            events.append(step.event)
        return events

    def _account(self, usage: Usage, model: str | None) -> AgentEvent:
        return self._ports.account(usage, model or "", self._turn_id, self._agent_id)

    def _commit(self, message: Message) -> MessageCommitted:
        self.messages = (*self.messages, message)
        return MessageCommitted(self._turn_id, message, agent_id=self._agent_id)

    def _close_open_calls(self, text: str) -> None:
        last = self.messages[-1] if self.messages else None
        if last is not None and last.role == "assistant" and last.tool_uses():
            self._commit(tool_results_message(synthetic_results(last.tool_uses(), text)))

    def _interrupted(
        self,
        reason: TerminalReason,
        state: LoopState,
        *,
        turns: int | None = None,
        note: str = INTERRUPTED_NOTE,
    ) -> list[AgentEvent]:
        return [
            self._commit(interruption(note)),
            self._terminal(reason, state, turns=state.turn_count if turns is None else turns),
        ]

    def _terminal(
        self,
        reason: TerminalReason,
        state: LoopState,
        detail: str = "",
        *,
        turns: int | None = None,
    ) -> Terminal:
        return Terminal(
            self._turn_id,
            reason,
            detail,
            turns=state.turn_count if turns is None else turns,
            agent_id=self._agent_id,
        )
