"""The rounds of the program's loop: they commit messages and emit events.

The history stays valid on every path. Next: `agent.loop.model_turn` (one answer),
`agent.loop.tool_round`, `agent.loop.stop_check`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec.structs import replace

from agent.abort import AbortController
from agent.events import NO_REASON, Complete, ErrorEvent, Terminal, Usage
from agent.history import INTERRUPTED_NOTE, synthetic_results
from agent.loop.live_history import LiveHistory
from agent.loop.loop_ports import ContextStep, LoopPorts
from agent.loop.loop_state import LoopState
from agent.loop.model_turn import Answered, Failed, Interrupted, ModelTurn
from agent.loop.stop_check import TurnEnd
from agent.loop.tool_round import ToolRound
from agent.loop.turn_machine import Ended, TooLong
from agent.loop.written_calls import written_call, written_call_notice
from agent.messages import ToolUse, tool_results_message, user_message
from agent.model.client import ModelRequest
from agent.stream import TurnEvents

STILL_CUT: Final = (
    "The answer hit the output limit again and was left as it is. "
    "Ask it to continue if something is missing."
)


class MessageRounds:
    """The steps of one prompt's run; `agent.loop.turn_machine` drives them."""

    def __init__(
        self,
        ports: LoopPorts,
        history: LiveHistory,
        events: TurnEvents,
        abort: AbortController,
        *,
        max_turns: int,
        token_budget: int | None,
    ) -> None:
        """`max_turns` limits the rounds, `token_budget` the output tokens."""
        self._ports = ports
        self._events = events
        self._history = history
        self._abort = abort
        self._tools = ToolRound(ports, history, events, max_turns=max_turns)
        self._end = TurnEnd(
            ports.hooks,
            history,
            events,
            max_turns=max_turns,
            answer=ports.answer,
            token_budget=token_budget,
            mail=ports.mail,
        )
        self._output_tokens = 0
        self._context_tokens = 0
        self._step_count = 0

    # -- one round --------------------------------------------------------------------------

    async def prepare_round(self, state: LoopState) -> LoopState | Terminal:
        """End after an abort or at a budget; otherwise compact if needed, commit late messages."""
        if self._abort.signal.aborted:
            return await self._history.record_interruption("aborted_streaming", state)
        spent = self._ports.spent()
        if spent is not None:
            await self._events.notice("warning", spent)
            return self._history.terminal("budget_exceeded", state, spent)
        await self._prepare_request()
        return state

    async def carry_out(
        self, state: LoopState, step: Callable[[LoopState], Awaitable[LoopState | Terminal]]
    ) -> LoopState | Terminal:
        """Await the step."""
        return await step(state)

    async def ask(self, state: LoopState) -> Answered | Failed | Ended[Terminal]:
        """Stream and commit the next answer."""
        self._step_count += 1
        turn = ModelTurn(
            self._ports.client,
            self._ports.recovery,
            self._request(),
            self._events,
            step=self._step_count,
        )
        result = await turn.run(self._abort.signal)
        await self._events.emit_all(self._ports.hooks.notices())
        if isinstance(result, Interrupted):
            return Ended(await self._end_interrupted(state, result))
        if isinstance(result, Answered):
            await self._commit_answer(result)
        return result

    async def run_calls(self, state: LoopState, answer: Answered) -> LoopState | Terminal:
        """Run the calls of an answer."""
        return await self._tools.run(state, answer.tool_uses, self._abort)

    async def finish(self, state: LoopState, answer: Answered) -> LoopState | Terminal:
        """End, unless a hook, a schema, a token budget or mail makes the model continue."""
        turns = state.turn_count + 1
        match answer.stop_reason:
            case "refusal":
                await self._close_calls(answer.tool_uses, "Not run: the model refused this turn.")
                detail = answer.stop_detail or NO_REASON
                return self._history.terminal("refusal", state, detail, turns=turns)
            case "pause_turn":
                detail = "the model paused too often"
                return self._history.terminal("completed", state, detail, turns=turns)
            case "max_tokens":
                await self._events.notice("warning", STILL_CUT)
        text = answer.message.text
        registry = self._ports.calls.registry
        tool_name = written_call(text, {tool.name for tool in registry.all()})
        if tool_name is not None:
            await self._events.notice("warning", written_call_notice(tool_name))
        return await self._end.run(state, text, self._output_tokens, self._abort.signal)

    async def fail(self, state: LoopState, why: Failed | TooLong) -> Terminal:
        """Report why there is no answer, and end."""
        if isinstance(why, TooLong):
            return await self._too_long(state, why.detail)
        return await self._end_with_error(state, why)

    async def _end_with_error(self, state: LoopState, result: Failed) -> Terminal:
        if result.message is not None and not result.message.tool_uses():
            await self._history.commit(result.message)
        error, detail = result.error, result.failure.message
        await self._fail(str(result.failure.kind), result.fail.text, error.request_id, error.status)
        await self._ports.hooks.stop_failure(error.kind, detail)
        await self._events.emit_all(self._ports.hooks.notices())
        return self._history.terminal("error", state, detail)

    async def make_room(self) -> bool:
        """Compact; the context port prevents repetition."""
        context = self._ports.context
        if context is None:
            return False
        step = await context.after_overflow(self._history.messages, self._abort.signal)
        if step is not None:
            await self._replace_history(step)
        return step is not None

    async def _too_long(self, state: LoopState, detail: str) -> Terminal:
        context = self._ports.context
        advice = context.size_advice() if context is not None else None
        await self._fail("prompt_too_long", advice or _overflow_text(detail))
        await self._ports.hooks.stop_failure("invalid_request", detail)
        return self._history.terminal("prompt_too_long", state, detail)

    async def remark(self, text: str) -> None:
        """Commit a message of the program itself."""
        await self._history.commit(user_message(text, origin="continuation"))

    # -- pieces -----------------------------------------------------------------------------

    def _request(self) -> ModelRequest:
        request = self._ports.request(self._history.messages)
        answer = self._ports.answer
        return request if answer is None else replace(request, output_schema=answer.schema)

    async def _prepare_request(self) -> None:
        """Compact if the window is nearly full; commit messages from the background."""
        context = self._ports.context
        if context is not None:
            step = await context.before_request(
                self._history.messages, self._context_tokens, self._abort.signal
            )
            if step is not None:
                await self._replace_history(step)
        # After a compaction, because its hooks may add text that the summary lacks.
        for text in self._ports.hooks.late_context():
            await self._history.commit(user_message(text, origin="hook"))
        for report in self._ports.reports():
            if report.line:
                await self._events.notice("info", report.line)
            await self._history.commit(user_message(report.text, origin="reminder"))
        if self._ports.mail is not None:
            await self._tools.commit_queued()
            for message in self._ports.mail.take():
                await self._history.commit(message)

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

    async def _end_interrupted(self, state: LoopState, result: Interrupted) -> Terminal:
        """Commit the complete blocks of the answer, and end."""
        if result.message is not None:
            await self._history.commit(result.message)
            await self._close_calls(result.tool_uses, INTERRUPTED_NOTE)
        if result.usage != Usage():
            await self._account(result.usage, None)
        return await self._history.record_interruption("aborted_streaming", state)

    async def _close_calls(self, uses: tuple[ToolUse, ...], text: str) -> None:
        if uses:
            await self._history.commit(tool_results_message(synthetic_results(uses, text)))

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


def _overflow_text(detail: str) -> str:
    return (
        f"The conversation no longer fits the model's window ({detail}). "
        "Use /compact to shorten it, /rewind to go back, or /clear to start over."
    )
