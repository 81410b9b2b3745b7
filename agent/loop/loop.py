"""The agent loop: a two-state machine whose steps return the next state or the `Terminal`.

Await the model's response; when it holds tool calls run them and go round, else stop. The state is
replaced wholesale with a typed reason at every continue site, the history stays valid on every
path. Source: the pattern "agent-loop". Next: `agent.loop.model_turn` (one response),
`agent.loop.tool_round`, `agent.loop.stop_check`.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from agent.abort import AbortController, AbortSignal
from agent.events import NO_REASON, Complete, ErrorEvent, Terminal, Usage
from agent.history import INTERRUPTED_NOTE, synthetic_results
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import ContextStep, LoopPorts
from agent.loop.loop_state import LoopState
from agent.loop.model_turn import Answered, Failed, Interrupted, ModelTurn
from agent.loop.stop_check import TurnEnd
from agent.loop.tool_round import ToolRound
from agent.loop.written_calls import written_call, written_call_notice
from agent.messages import Message, tool_results_message, user_message
from agent.model.client import ModelRequest
from agent.recovery.classify import FailureKind
from agent.stream import TurnEvents

MAX_OUTPUT_RECOVERIES: Final = 3
MAX_PAUSES: Final = 10
CONTINUATION: Final = (
    "Your answer was cut off by the output limit. Continue exactly where it stopped, without "
    "repeating or apologising."
)
_LOG: Final = logging.getLogger(__name__)


class AgentLoop:
    """One prompt's run. Await `run`; `messages` is the valid history afterwards and at any time."""

    def __init__(
        self,
        ports: LoopPorts,
        events: TurnEvents,
        *,
        max_turns: int,
        token_budget: int | None = None,
    ) -> None:
        """`max_turns` counts answers with tool calls; `token_budget` output tokens."""
        self._ports = ports
        self._events = events
        self._history = LiveHistory(events)
        self._tools = ToolRound(ports, self._history, events, max_turns=max_turns)
        self._end = TurnEnd(
            ports.hooks,
            self._history,
            events,
            answer=ports.answer,
            token_budget=token_budget,
            mail=ports.mail,
        )
        self._output_tokens = 0
        self._context_tokens = 0
        self._step_count = 0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history now."""
        return self._history.messages

    async def run(
        self, history: tuple[Message, ...], new: Sequence[Message], abort: AbortController
    ) -> Terminal:
        """Work until the end and return it, not emitted yet; `new` is committed before the first
        request."""
        self._history.messages = history
        try:
            for message in new:
                await self._history.commit(message)
            state: LoopState | Terminal = LoopState(messages=self.messages)
            while isinstance(state, LoopState):
                if state.transition is not None:
                    _LOG.debug("next request: %s", state.transition.reason)
                state = await self._step(state, abort)
            return state
        finally:
            # A run may be cancelled anywhere: no call may stay open in the history.
            self._history.close_open_calls(INTERRUPTED_NOTE)

    # -- one round --------------------------------------------------------------------------

    async def _step(self, state: LoopState, abort: AbortController) -> LoopState | Terminal:
        """Take one model response and run its tools; return the next state or the end."""
        if abort.signal.aborted:
            return await self._history.interrupted("aborted_streaming", state)
        spent = self._ports.spent()
        if spent is not None:
            await self._events.notice("warning", spent)
            return self._history.terminal("budget_exceeded", state, spent)
        await self._prepare_request(abort.signal)
        state = replace(state, messages=self.messages)
        self._step_count += 1
        turn = ModelTurn(
            self._ports.client,
            self._ports.recovery,
            self._request(state.messages),
            self._events,
            step=self._step_count,
        )
        result = await turn.run(abort.signal)
        await self._events.emit_all(self._ports.hooks.notices())
        match result:
            case Answered():
                return await self._after_answer(state, result, abort)
            case Interrupted():
                return await self._after_interrupt(state, result)
            case Failed():
                return await self._after_failure(state, result, abort.signal)
            case _:
                assert_never(result)

    def _request(self, messages: tuple[Message, ...]) -> ModelRequest:
        request = self._ports.request(messages)
        answer = self._ports.answer
        return request if answer is None else replace(request, output_schema=answer.schema)

    async def _prepare_request(self, signal: AbortSignal) -> None:
        """Make room where the window is nearly full; commit what came in from the background."""
        context = self._ports.context
        if context is not None:
            step = await context.before_request(self.messages, self._context_tokens, signal)
            if step is not None:
                await self._replace_history(step)
        # Behind a compaction: its hooks add what the summary cannot know.
        for text in self._ports.hooks.late_context():
            await self._history.commit(user_message(text, origin="hook"))
        for report in self._ports.reports():
            await self._events.notice("info", report.line)
            await self._history.commit(user_message(report.text, origin="reminder"))
        if self._ports.mail is not None:
            await self._tools.commit_queued()
            for message in self._ports.mail.take():
                await self._history.commit(message)

    async def _after_answer(
        self, state: LoopState, answer: Answered, abort: AbortController
    ) -> LoopState | Terminal:
        await self._commit_answer(answer)
        state = replace(state, messages=self.messages)
        if answer.stop_reason == "refusal":
            return await self._after_refusal(state, answer)
        if answer.tool_uses:
            return await self._tools.run(state, answer.tool_uses, abort)
        match answer.stop_reason:
            case "pause_turn":
                if state.pause_count < MAX_PAUSES:
                    return state.advance("pause_turn")
                detail = "the model paused too often"
                return self._history.terminal(
                    "completed", state, detail, turns=state.turn_count + 1
                )
            case "max_tokens":
                if state.recovery_count < MAX_OUTPUT_RECOVERIES:
                    note = user_message(CONTINUATION, origin="continuation")
                    await self._history.commit(note)
                    return state.advance("max_output_tokens_recovery", note)
                await self._events.notice(
                    "warning",
                    "The answer hit the output limit again and was left as it is. "
                    "Ask it to continue if something is missing.",
                )
            case "model_context_window_exceeded":
                if answer.message.content:
                    # Endpoints refuse a request that ends with an answer begun.
                    await self._history.commit(user_message(CONTINUATION, origin="continuation"))
                    state = replace(state, messages=self.messages)
                return await self._after_overflow(state, "the context window is full", abort.signal)
        text = answer.message.text
        registry = self._ports.calls.registry
        written = written_call(text, {tool.name for tool in registry.all()})
        if written is not None:
            await self._events.notice("warning", written_call_notice(written))
        return await self._end.run(state, text, self._output_tokens, abort.signal)

    async def _after_refusal(self, state: LoopState, answer: Answered) -> Terminal:
        if answer.tool_uses:
            results = synthetic_results(answer.tool_uses, "Not run: the model refused this turn.")
            await self._history.commit(tool_results_message(results))
        detail = answer.stop_detail or NO_REASON
        return self._history.terminal("refusal", state, detail, turns=state.turn_count + 1)

    async def _commit_answer(self, answer: Answered) -> None:
        events = self._events
        await events.emit(
            Complete(
                events.turn_id,
                answer.message.uid,
                answer.stop_reason,
                answer.usage,
                agent_id=events.agent_id,
            )
        )
        if answer.message.content:
            await self._history.commit(answer.message)
        self._output_tokens += answer.usage.output_tokens
        self._context_tokens = answer.usage.prompt_tokens + answer.usage.output_tokens
        for model, usage in answer.asides:
            await self._account(usage, model or answer.message.model)
        await self._account(answer.usage, answer.message.model)

    async def _after_interrupt(self, state: LoopState, result: Interrupted) -> Terminal:
        if result.message is not None:
            await self._history.commit(result.message)
            if result.tool_uses:
                results = synthetic_results(result.tool_uses, INTERRUPTED_NOTE)
                await self._history.commit(tool_results_message(results))
        if result.usage != Usage():
            await self._account(result.usage, None)
        state = replace(state, messages=self.messages)
        return await self._history.interrupted("aborted_streaming", state)

    async def _after_failure(
        self, state: LoopState, result: Failed, signal: AbortSignal
    ) -> LoopState | Terminal:
        detail = result.failure.message
        if result.failure.kind is FailureKind.CONTEXT_OVERFLOW:
            # In the server's words: ours come around them.
            server_words = " ".join(str(result.error).split())
            return await self._after_overflow(state, server_words or detail, signal)
        if result.message is not None and not result.message.tool_uses():
            await self._history.commit(result.message)
        error = result.error
        await self._fail(str(result.failure.kind), result.fail.text, error.request_id, error.status)
        await self._ports.hooks.stop_failure(error.kind, detail)
        await self._events.emit_all(self._ports.hooks.notices())
        return self._history.terminal("error", state, detail)

    async def _after_overflow(
        self, state: LoopState, detail: str, signal: AbortSignal
    ) -> LoopState | Terminal:
        """Compact once per session, else end: the guard is part of the context port."""
        context = self._ports.context
        step = await context.after_overflow(self.messages, signal) if context is not None else None
        if step is not None:
            await self._replace_history(step)
            return replace(state, messages=self.messages).advance("reactive_compact_retry")
        advice = context.too_small() if context is not None else None
        await self._fail("prompt_too_long", advice or _no_longer_fits(detail))
        await self._ports.hooks.stop_failure("invalid_request", detail)
        return self._history.terminal("prompt_too_long", state, detail)

    # -- pieces -----------------------------------------------------------------------------

    async def _fail(
        self, kind: str, text: str, request_id: str | None = None, status: int | None = None
    ) -> None:
        events = self._events
        await events.emit(
            ErrorEvent(events.turn_id, kind, text, request_id, status, agent_id=events.agent_id)
        )

    async def _replace_history(self, step: ContextStep) -> None:
        for text in step.notices:
            await self._events.notice("info", text)
        if step.event is not None:
            self._context_tokens = step.event.tokens_after
        await self._history.replace(step.messages, step.event)

    async def _account(self, usage: Usage, model: str | None) -> None:
        events = self._events
        update = self._ports.account(usage, model or "", events.turn_id, events.agent_id)
        await events.emit(update)


def _no_longer_fits(detail: str) -> str:
    return (
        f"The conversation no longer fits the model's window ({detail}). "
        "Use /compact to shorten it, /rewind to go back, or /clear to start over."
    )
