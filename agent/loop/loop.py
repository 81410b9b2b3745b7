"""The agent loop: a two-state machine as an async generator over `AgentEvent`.

Await the model's response; when it holds tool calls run them and go round, else stop. The state is
replaced wholesale with a typed reason at every continue site, the history stays valid on every
path. Source: the pattern "agent-loop". Next: `agent.loop.model_turn` (one response),
`agent.loop.tool_round`, `agent.loop.stop_check`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from agent.abort import AbortController, AbortSignal
from agent.events import AgentEvent, Complete, ErrorEvent, Usage
from agent.history import INTERRUPTED_NOTE, synthetic_results
from agent.loop.background_step import SideWork
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import ContextStep, LoopPorts
from agent.loop.loop_state import LoopState
from agent.loop.model_turn import Answered, Failed, Interrupted, ModelTurn
from agent.loop.stop_check import TurnEnd
from agent.loop.tool_round import ToolRound
from agent.messages import Message, tool_results_message, user_message
from agent.recovery.classify import FailureKind

MAX_OUTPUT_RECOVERIES: Final = 3
MAX_PAUSES: Final = 10
CONTINUATION: Final = (
    "Your answer was cut off by the output limit. Continue exactly where it stopped, without "
    "repeating or apologising."
)


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
        self._history = LiveHistory(turn_id, agent_id)
        self._tools = ToolRound(ports, self._history, max_turns=max_turns)
        self._end = TurnEnd(
            ports.hooks, self._history, max_turns=max_turns, token_budget=token_budget
        )
        self._output_tokens = 0
        self._context_tokens = 0
        self._step = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history now."""
        return self._history.messages

    async def run(
        self, history: tuple[Message, ...], new: Sequence[Message], abort: AbortController
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield events until the one `Terminal`; `new` is committed before the first request."""
        self._history.messages = history
        for message in new:
            yield self._history.commit(message)
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
            self._history.close_open_calls(INTERRUPTED_NOTE)

    # -- one round --------------------------------------------------------------------------

    async def _step_once(
        self, state: LoopState, abort: AbortController
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        """One model response and its tools: yields events, then the next state or a `Terminal`."""
        signal = abort.signal
        if signal.aborted:
            for event in self._history.interrupted("aborted_streaming", state):
                yield event
            return
        spent = self._ports.spent()
        if spent is not None:
            yield self._history.notice("warning", spent)
            yield self._history.terminal("budget_exceeded", state, spent)
            return
        if self._ports.context is not None:
            work = self._beside(
                self._ports.context.before_request(self.messages, self._context_tokens, signal)
            )
            async for event in work.events():
                yield event
            if work.result is not None:
                for event in self._replaced(work.result):
                    yield event
        # Behind a compaction: its hooks add what the summary cannot know.
        for text in self._ports.hooks.late_context():
            yield self._history.commit(user_message(text, origin="hook"))
        for text in self._ports.reports():
            yield self._history.notice("info", text)
            yield self._history.commit(user_message(text, origin="reminder"))
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
            yield self._history.commit(answer.message)
        self._output_tokens += answer.usage.output_tokens
        self._context_tokens = answer.usage.prompt_tokens + answer.usage.output_tokens
        yield self._account(answer.usage, answer.message.model)
        state = replace(state, messages=self.messages)

        if answer.stop_reason == "refusal":
            if needs_follow_up:
                yield self._history.commit(
                    tool_results_message(
                        synthetic_results(answer.tool_uses, "Not run: the model refused this turn.")
                    )
                )
            detail = answer.stop_detail or "the model declined to answer"
            yield self._history.terminal("refusal", state, detail, turns=state.turn_count + 1)
            return
        if answer.stop_reason == "pause_turn" and not needs_follow_up:
            if state.pause_count >= MAX_PAUSES:
                yield self._history.terminal(
                    "completed", state, "the model paused too often", turns=state.turn_count + 1
                )
                return
            yield state.advance("pause_turn")
            return
        if needs_follow_up:
            async for item in self._tools.run(state, answer.tool_uses, abort):
                yield item
            return
        if answer.stop_reason == "max_tokens" and state.recovery_count < MAX_OUTPUT_RECOVERIES:
            note = user_message(CONTINUATION, origin="continuation")
            yield self._history.commit(note)
            yield state.advance("max_output_tokens_recovery", note)
            return
        if answer.stop_reason == "max_tokens":
            yield self._history.notice(
                "warning",
                "The answer hit the output limit again and was left as it is. "
                "Ask it to continue if something is missing.",
            )
        if answer.stop_reason == "model_context_window_exceeded":
            if answer.message.content:
                # Endpoints refuse a request that ends with an answer begun.
                yield self._history.commit(user_message(CONTINUATION, origin="continuation"))
                state = replace(state, messages=self.messages)
            async for item in self._overflow(state, "the context window is full", abort.signal):
                yield item
            return
        text = answer.message.text
        async for item in self._end.run(state, text, self._output_tokens, abort.signal):
            yield item

    def _after_interrupt(self, state: LoopState, result: Interrupted) -> list[AgentEvent]:
        events: list[AgentEvent] = []
        if result.message is not None:
            events.append(self._history.commit(result.message))
            if result.tool_uses:
                events.append(
                    self._history.commit(
                        tool_results_message(synthetic_results(result.tool_uses, INTERRUPTED_NOTE))
                    )
                )
        if result.usage != Usage():
            events.append(self._account(result.usage, None))
        state = replace(state, messages=self.messages)
        return [*events, *self._history.interrupted("aborted_streaming", state)]

    async def _after_failure(
        self, state: LoopState, result: Failed, signal: AbortSignal
    ) -> AsyncGenerator[AgentEvent | LoopState, None]:
        if result.failure.kind is FailureKind.CONTEXT_OVERFLOW:
            async for item in self._overflow(state, result.failure.message, signal):
                yield item
            return
        if result.message is not None and not result.message.tool_uses():
            yield self._history.commit(result.message)
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
        yield self._history.terminal("error", state, result.failure.message)

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
        yield self._history.terminal("prompt_too_long", state, detail)

    # -- pieces -----------------------------------------------------------------------------

    def _beside(self, work: Awaitable[ContextStep | None]) -> SideWork[ContextStep | None]:
        """Start context work so that its waits can be shown."""
        return SideWork(
            work, self._ports.calls.side, turn_id=self._turn_id, agent_id=self._agent_id
        )

    def _replaced(self, step: ContextStep) -> list[AgentEvent]:
        events: list[AgentEvent] = [self._history.notice("info", text) for text in step.notices]
        if step.event is not None:
            self._context_tokens = step.event.tokens_after
        return [*events, *self._history.replace(step.messages, step.event)]

    def _account(self, usage: Usage, model: str | None) -> AgentEvent:
        return self._ports.account(usage, model or "", self._turn_id, self._agent_id)
