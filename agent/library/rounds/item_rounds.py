"""The rounds of a run: implements the steps of the program's loop for the Runner.

`agent.loop.turn_machine` decides what follows from an answer; this module adds the Runner's
count of turns, its guardrails, handoffs, approvals and errors.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from agent.library.agents.agent_definition import Agent
from agent.library.base.raw_items import RawItem, read
from agent.library.base.run_exceptions import (
    ModelBehaviorError,
    ModelRefusalError,
    StoppedByHook,
)
from agent.library.items.run_events import AgentUpdatedStreamEvent
from agent.library.items.run_items import RunItem, ToolCallOutputItem
from agent.library.models.endpoint_model import EndpointModel
from agent.library.rounds.agent_spans import AgentSpans
from agent.library.rounds.final_outputs import (
    Unfinished,
    last_text,
    message_output,
    tools_output,
)
from agent.library.rounds.guard_runs import run_input_guardrails
from agent.library.rounds.handing_over import filter_history, hand_over
from agent.library.rounds.input_compaction import InputCompaction, model_input
from agent.library.rounds.model_calls import TurnTools, call_model, turn_tools
from agent.library.rounds.response_reading import ReadResponse, ToolRun, read_response
from agent.library.rounds.run_endings import RunEndings
from agent.library.rounds.run_hook_events import RunHookEvents
from agent.library.rounds.session_turns import input_with_session, save_turn
from agent.library.rounds.tool_calls import run_tools, unknown_call_output
from agent.library.state.run_scope import RunScope
from agent.library.tools.function_tool import FunctionToolResult
from agent.library.tracing.run_spans import run_span
from agent.loop.answer_schema import MAX_CORRECTIONS, correction
from agent.loop.loop_state import LoopState
from agent.loop.model_turn import Failed
from agent.loop.turn_machine import TooLong
from agent.model.client import ModelError
from agent.recovery.classify import classify
from agent.recovery.escalation import Fail

Step = Callable[[LoopState], Awaitable[LoopState | None]]

_LOG: Final = logging.getLogger("agent.library")
_SAME_TURN: Final = {
    "answer_correction",
    "max_output_tokens_recovery",
    "pause_turn",
    "reactive_compact_retry",
}
"""Transitions that continue one answer; all others start a turn in the Runner's count."""


class ItemRounds:
    """The steps of one run. None ends the run, whose state says how."""

    def __init__(
        self,
        scope: RunScope,
        events: RunHookEvents,
        spans: AgentSpans,
        *,
        is_stopping: Callable[[], bool],
        after_turn: Callable[[], RawItem] | None,
    ) -> None:
        """`is_stopping` is called before each turn; `after_turn` is awaited after each."""
        self._scope = scope
        self._state = scope.state
        self._events = events
        self._spans = spans
        self._is_stopping = is_stopping
        self._after_turn = after_turn
        self._guards: asyncio.Future[None] | None = None
        self._endings = RunEndings(scope, events, spans)
        self._compaction = InputCompaction(scope, events.before_request)
        self._tools = TurnTools([], [])
        self._items: list[RunItem] = []
        """Items of the last answer."""
        self._text_before = ""
        """Text of the answer's earlier parts, which the output limit cut."""

    async def begin(self) -> LoopState | None:
        """Resume a turn whose calls waited for approval, or read the session."""
        state, scope = self._state, self._scope
        if state.is_interrupted:
            return await self._resume()
        if state.current_turn == 0:
            await input_with_session(scope)
        return LoopState()

    async def prepare_round(self, state: LoopState) -> LoopState | None:
        """Count the turn; end if the limit is reached or a stop is requested."""
        if _continues_turn(state):
            return state
        run = self._state
        if self._is_stopping():
            return None
        if run.max_turns is not None and run.current_turn >= run.max_turns:
            await self._endings.end_at_limit()
            return None
        run.current_turn += 1
        self._text_before = ""
        self._spans.enter(run.current_agent)
        return state

    async def carry_out(self, state: LoopState, step: Step) -> LoopState | None:
        """Await a step; in the first turn, run the input guardrails alongside."""
        run = self._state
        if run.current_turn == 1 and not run.input_guardrail_results:
            next_state = await self._run_guarded(lambda: self._run_traced(state, step))
        else:
            next_state = await self._run_traced(state, step)
        if self._after_turn is not None and (next_state is None or not _continues_turn(next_state)):
            await self._after_turn()
        return next_state

    async def ask(self, state: LoopState) -> ReadResponse | Failed:
        """Get the model's next answer, and add its items to the run."""
        run, scope = self._state, self._scope
        agent = run.current_agent
        scope.context.turn_input = list(model_input(scope))
        if not run.has_started_agent:
            await self._start_agent(agent)
        try:
            response = await call_model(scope, agent, self._tools, self._compaction)
        except ModelError as error:
            return Failed(Fail(classify(error), 0, str(error)), error, None)
        if not _continues_turn(state):
            run.turn_start = len(run.generated_items)
        may_be_unknown = scope.config.tool_not_found_behavior == "return_error_to_model"
        answer = read_response(agent, response, self._tools, may_be_unknown=may_be_unknown)
        self._items = answer.items
        scope.announce_items(answer.items)
        self._state.add_items(answer.items)
        if answer.used_tools:
            run.used_tools.add(agent.name)
        if scope.is_tripped and self._guards is not None:
            await asyncio.shield(self._guards)
        return answer

    async def run_calls(self, state: LoopState, answer: ReadResponse) -> LoopState | None:
        """Run tools and handoffs; stop if a call needs approval."""
        run, scope = self._state, self._scope
        agent = run.current_agent
        outputs_by_call = self._outputs_by_call()
        waiting = [each for each in answer.tool_runs if each.call_id not in outputs_by_call]
        outcome = await run_tools(scope, agent, waiting)
        unknown = [
            await unknown_call_output(scope, agent, each)
            for each in answer.unknown_calls
            if read(each, "call_id") not in outputs_by_call
        ]
        outputs = [*outcome.items, *unknown]
        self._state.add_items(outputs)
        scope.announce_items(outputs)
        try:
            self._state.add_items(await self._events.after_calls(agent))
        except StoppedByHook:
            await save_turn(scope)
            raise
        if outcome.interruptions:
            run.is_interrupted = True
            run.interruptions = outcome.interruptions
            await save_turn(scope)
            return None
        if answer.handoff_runs:
            await self._hand_over(agent, answer)
            return state.advance("next_turn")
        return await self._after_tools(state, agent, answer.tool_runs)

    async def finish(self, state: LoopState, answer: ReadResponse) -> LoopState | None:
        """End with the message as output, unless it is invalid or a hook continues the run."""
        scope, agent = self._scope, self._state.current_agent
        if answer.stop_reason == "max_tokens":
            _LOG.warning("the answer of %s hit the output limit again", agent.name)
        try:
            output = message_output(agent, answer.items, self._text_before)
        except Unfinished:
            await save_turn(scope)
            return state.advance("next_turn")
        except ModelRefusalError as error:
            await self._endings.by_handler(agent, "model_refusal", error)
            return None
        except ModelBehaviorError as error:
            # Only the program's models are corrected; a caller's model is up to the caller.
            is_ours = isinstance(scope.find_model(agent), EndpointModel)
            if is_ours and state.corrections < MAX_CORRECTIONS:
                self._events.admit(agent, [correction(str(error))])
                self._text_before = ""
                return state.advance("answer_correction", detail=str(error)[:200])
            await self._endings.by_handler(agent, "invalid_final_output", error)
            return None
        return await self._endings.end(state, agent, output)

    async def fail(self, _state: LoopState, why: Failed | TooLong) -> None:
        """Raise the model's error."""
        if why.error is not None:
            raise why.error
        assert isinstance(why, TooLong), "a failure has its error"
        text = f"The conversation no longer fits the model's window ({why.detail})."
        raise ModelError("prompt_too_long", text)

    async def make_room(self) -> bool:
        """Compact the history; return whether that was done."""
        return await self._compaction.after_refusal()

    async def remark(self, text: str) -> None:
        """Ask the model to continue its answer where it was cut."""
        self._text_before += last_text(self._items) or ""
        self._events.admit(self._state.current_agent, [text])

    # -- pieces -----------------------------------------------------------------------------

    async def _resume(self) -> LoopState | None:
        """Run the calls that waited for approval; finished calls do not run again."""
        run, scope = self._state, self._scope
        agent = run.current_agent
        self._spans.enter(agent)
        self._tools = await turn_tools(scope, agent)
        self._spans.describe(self._tools)
        answer = read_response(agent, run.model_responses[-1], self._tools, may_be_unknown=True)
        run.is_interrupted = False
        run.interruptions = []
        if answer.used_tools:
            run.used_tools.add(agent.name)
        return await self.run_calls(LoopState(), answer)

    async def _run_traced(self, state: LoopState, step: Step) -> LoopState | None:
        run, scope = self._state, self._scope
        agent = run.current_agent
        self._tools = await turn_tools(scope, agent)
        self._spans.describe(self._tools)
        self._events.before_request()
        is_disabled = scope.config.tracing_disabled
        with run_span("turn", disabled=is_disabled, turn=run.current_turn, agent_name=agent.name):
            return await step(state)

    async def _run_guarded(
        self, step: Callable[[], Awaitable[LoopState | None]]
    ) -> LoopState | None:
        """Await a step, with the input guardrails before and alongside it."""
        run, scope = self._state, self._scope
        agent, run_input = run.current_agent, run.original_input
        guardrails = [*agent.input_guardrails, *(scope.config.input_guardrails or [])]
        first = [each for each in guardrails if not each.run_in_parallel]
        parallel = [each for each in guardrails if each.run_in_parallel]
        await run_input_guardrails(scope, agent, first, run_input)
        if not parallel:
            return await step()
        turn = asyncio.ensure_future(step())
        guards = asyncio.ensure_future(run_input_guardrails(scope, agent, parallel, run_input))
        self._guards = guards
        try:
            await asyncio.wait({guards, turn}, return_when=asyncio.FIRST_EXCEPTION)
            if guards.done():
                guards.result()
            return turn.result()
        finally:
            for task in (guards, turn):
                task.cancel()
            await asyncio.gather(guards, turn, return_exceptions=True)

    async def _start_agent(self, agent: Agent) -> None:
        scope = self._scope
        self._state.has_started_agent = True
        starts = [scope.hooks.on_agent_start(scope.hook_context(), agent)]
        if agent.hooks is not None:
            starts.append(agent.hooks.on_start(scope.hook_context(), agent))
        await asyncio.gather(*starts)

    async def _hand_over(self, agent: Agent, answer: ReadResponse) -> None:
        run, scope = self._state, self._scope
        handover = await hand_over(scope, agent, answer.handoff_runs)
        self._state.add_items(handover.new_items)
        scope.announce_items(handover.new_items)
        earlier = run.generated_items[: run.turn_start]
        turn = run.generated_items[run.turn_start :]
        session_items = await filter_history(scope, answer.handoff_runs[0], earlier, turn)
        if len(turn) <= len(run.session_items):
            run.session_items[len(run.session_items) - len(turn) :] = session_items
        await save_turn(scope)
        run.current_agent = handover.agent
        run.has_started_agent = False
        scope.announce(AgentUpdatedStreamEvent(handover.agent))

    async def _after_tools(
        self, state: LoopState, agent: Agent, runs: list[ToolRun]
    ) -> LoopState | None:
        """End with the tools' outputs, including those from before an interruption, or continue."""
        outputs = self._outputs_by_call()
        results = [
            FunctionToolResult(run.tool, outputs[run.call_id].output, outputs[run.call_id])
            for run in runs
            if run.call_id in outputs
        ]
        output = await tools_output(self._scope, agent, results)
        if output.is_final_output:
            return await self._endings.end(state, agent, output.final_output)
        await save_turn(self._scope)
        return state.advance("next_turn")

    def _outputs_by_call(self) -> dict[str | None, ToolCallOutputItem]:
        """Return the outputs of the turn's calls, by call id."""
        turn: list[RunItem] = self._state.generated_items[self._state.turn_start :]
        return {each.call_id: each for each in turn if isinstance(each, ToolCallOutputItem)}


def _continues_turn(state: LoopState) -> bool:
    return state.transition is not None and state.transition.reason in _SAME_TURN
