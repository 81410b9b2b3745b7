"""The loop of a run: turn after turn until there is a final output, or approvals to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agent.library.agents.agent_definition import Agent
from agent.library.agents.agent_output import output_schema_of
from agent.library.base.raw_items import RawItem, read
from agent.library.base.run_exceptions import (
    AgentsException,
    MaxTurnsExceeded,
    ModelBehaviorError,
    ModelRefusalError,
    OutputGuardrailTripwireTriggered,
    RunErrorDetails,
    StoppedByHook,
)
from agent.library.items.run_events import AgentUpdatedStreamEvent
from agent.library.items.run_items import RunItem, ToolCallOutputItem
from agent.library.running.final_outputs import (
    Unfinished,
    handled,
    handler_message,
    message_output,
    tools_output,
)
from agent.library.running.guard_runs import run_input_guardrails, run_output_guardrails
from agent.library.running.handing_over import filter_history, hand_over
from agent.library.running.input_compaction import InputCompaction, model_input
from agent.library.running.model_calls import TurnTools, call_model, turn_tools
from agent.library.running.response_reading import ReadResponse, ToolRun, read_response
from agent.library.running.run_hook_events import RunHookEvents
from agent.library.running.run_scope import RunScope
from agent.library.running.session_turns import input_with_session, save_turn
from agent.library.running.tool_calls import run_tools, unknown_call_output
from agent.library.tools.function_tool import FunctionToolResult
from agent.library.tracing.run_spans import TraceSpan, agent_span, run_span
from agent.model.client import ModelError


class RunEngine:
    """One run. Await `run`; the state has what came of it."""

    def __init__(
        self,
        scope: RunScope,
        *,
        is_stopping: Callable[[], bool] = lambda: False,
        after_turn: Callable[[], RawItem] | None = None,
    ) -> None:
        """`is_stopping` says before each turn whether to end; `after_turn` is awaited."""
        self._scope = scope
        self._state = scope.state
        self._is_stopping = is_stopping
        self._after_turn = after_turn
        self._agent_span: TraceSpan | None = None
        self._span_agent: Agent | None = None
        self._guards: asyncio.Future[None] | None = None
        self._events = RunHookEvents(scope)
        self._compaction = InputCompaction(scope, self._events.before_request)

    async def run(self) -> None:
        """Run until there is a final output or an approval to wait for.

        Raises:
            AgentsException: what ended the run, with `run_data`.
            ModelError: the endpoint failed for good.
        """
        try:
            await self._events.open()
            await self._run()
        except AgentsException as error:
            error.run_data = self._error_details()
            raise
        except ModelError as error:
            await self._events.failed(error)
            raise
        finally:
            self._leave_span()
            await self._events.close()

    async def _run(self) -> None:
        state, scope = self._state, self._scope
        await self._events.begin()
        if state.is_interrupted:
            self._enter_span(state.current_agent)
            await self._resume()
        elif state.current_turn == 0:
            await input_with_session(scope)
        while not (state.has_finished or state.is_interrupted or self._is_stopping()):
            if state.max_turns is not None and state.current_turn >= state.max_turns:
                await self._exceeded()
                return
            state.current_turn += 1
            self._enter_span(state.current_agent)
            if state.current_turn == 1 and not state.input_guardrail_results:
                await self._guarded_turn()
            else:
                await self._turn()
            if self._after_turn is not None:
                await self._after_turn()

    # -- turns ------------------------------------------------------------------------------

    async def _guarded_turn(self) -> None:
        """Take the first turn, with the guardrails on the input before and beside it."""
        state, scope = self._state, self._scope
        agent = state.current_agent
        guardrails = [*agent.input_guardrails, *(scope.config.input_guardrails or [])]
        given = state.original_input
        first = [each for each in guardrails if not each.run_in_parallel]
        beside = [each for each in guardrails if each.run_in_parallel]
        await run_input_guardrails(scope, agent, first, given)
        if not beside:
            await self._turn()
            return
        turn = asyncio.ensure_future(self._turn())
        guards = asyncio.ensure_future(run_input_guardrails(scope, agent, beside, given))
        self._guards = guards
        try:
            await asyncio.wait({guards, turn}, return_when=asyncio.FIRST_EXCEPTION)
            if guards.done():
                guards.result()
            turn.result()
        finally:
            for task in (guards, turn):
                task.cancel()
            await asyncio.gather(guards, turn, return_exceptions=True)

    async def _turn(self) -> None:
        state, scope = self._state, self._scope
        agent = state.current_agent
        tools = await turn_tools(scope, agent)
        self._describe(tools)
        self._events.before_request()
        with run_span(
            "turn",
            disabled=scope.config.tracing_disabled,
            turn=state.current_turn,
            agent_name=agent.name,
        ):
            items = model_input(scope)
            scope.context.turn_input = list(items)
            if not state.has_started_agent:
                await self._start_agent(agent)
            response = await call_model(scope, agent, tools, self._compaction)
            state.turn_start = len(state.generated_items)
            found = read_response(
                agent,
                response,
                tools,
                may_be_unknown=scope.config.tool_not_found_behavior == "return_error_to_model",
            )
            scope.announce_items(found.items)
            await self._act(agent, found, found.items)

    async def _resume(self) -> None:
        """Take up a turn whose calls waited for approval; what has run does not run again."""
        state, scope = self._state, self._scope
        agent = state.current_agent
        tools = await turn_tools(scope, agent)
        self._describe(tools)
        found = read_response(agent, state.model_responses[-1], tools, may_be_unknown=True)
        state.is_interrupted = False
        state.interruptions = []
        await self._act(agent, found, [])

    async def _act(self, agent: Agent, found: ReadResponse, items: list[RunItem]) -> None:
        """Do what an answer asks for; `items` are those of it that are not in the state yet."""
        state, scope = self._state, self._scope
        self._add(items)
        if found.used_tools:
            state.used_tools.add(agent.name)
        if scope.is_tripped and self._guards is not None:
            await asyncio.shield(self._guards)
        answered = self._answered()
        waiting = [run for run in found.tool_runs if run.call_id not in answered]
        outcome = await run_tools(scope, agent, waiting)
        unknown = [
            await unknown_call_output(scope, agent, each)
            for each in found.unknown_calls
            if read(each, "call_id") not in answered
        ]
        outputs = [*outcome.items, *unknown]
        self._add(outputs)
        scope.announce_items(outputs)
        try:
            self._add(await self._events.after_calls(agent))
        except StoppedByHook:
            await save_turn(scope)
            raise
        if outcome.interruptions:
            state.is_interrupted = True
            state.interruptions = outcome.interruptions
            await save_turn(scope)
        elif found.handoff_runs:
            await self._hand_over(agent, found)
        elif not await self._finish_by_tools(agent, found.tool_runs):
            if found.tool_runs or found.used_tools:
                await save_turn(scope)
            else:
                await self._finish_by_message(agent)

    def _answered(self) -> dict[str | None, ToolCallOutputItem]:
        """Return the outputs of the turn's calls, by call."""
        turn = self._state.generated_items[self._state.turn_start :]
        return {each.call_id: each for each in turn if isinstance(each, ToolCallOutputItem)}

    def _add(self, items: list[RunItem]) -> None:
        self._state.generated_items.extend(items)
        self._state.session_items.extend(items)

    async def _hand_over(self, agent: Agent, found: ReadResponse) -> None:
        state, scope = self._state, self._scope
        done = await hand_over(scope, agent, found.handoff_runs)
        self._add(done.new_items)
        scope.announce_items(done.new_items)
        earlier = state.generated_items[: state.turn_start]
        turn = state.generated_items[state.turn_start :]
        kept = await filter_history(scope, found.handoff_runs[0], earlier, turn)
        if len(turn) <= len(state.session_items):
            state.session_items[len(state.session_items) - len(turn) :] = kept
        await save_turn(scope)
        state.current_agent = done.agent
        state.has_started_agent = False
        scope.announce(AgentUpdatedStreamEvent(done.agent))

    # -- ends -------------------------------------------------------------------------------

    async def _finish_by_tools(self, agent: Agent, runs: list[ToolRun]) -> bool:
        """End with what tools returned, those that ran before an interruption included."""
        answered = self._answered()
        results = [
            FunctionToolResult(run.tool, answered[run.call_id].output, answered[run.call_id])
            for run in runs
            if run.call_id in answered
        ]
        found = await tools_output(self._scope, agent, results)
        if found.is_final_output:
            await self._finish(agent, found.final_output)
        return found.is_final_output

    async def _finish_by_message(self, agent: Agent) -> None:
        state = self._state
        try:
            output = message_output(agent, state.session_items[state.saved_count :])
        except Unfinished:
            await save_turn(self._scope)
        except ModelRefusalError as error:
            await self._finish_by_handler(agent, "model_refusal", error)
        except ModelBehaviorError as error:
            await self._finish_by_handler(agent, "invalid_final_output", error)
        else:
            await self._finish(agent, output)

    async def _exceeded(self) -> None:
        error = MaxTurnsExceeded(f"Max turns ({self._state.max_turns}) exceeded")
        if self._agent_span is not None:
            self._agent_span.set_error(
                {"message": "Max turns exceeded", "data": {"max_turns": self._state.max_turns}}
            )
        await self._finish_by_handler(self._state.current_agent, "max_turns", error)

    async def _finish_by_handler(self, agent: Agent, kind: str, error: AgentsException) -> None:
        found = await handled(self._scope, kind, error)
        if found is None:
            raise error
        message = [handler_message(agent, found.final_output)] if found.include_in_history else []
        await self._finish(agent, found.final_output, message)

    async def _finish(
        self, agent: Agent, output: RawItem, message: list[RunItem] | RawItem = ()
    ) -> None:
        """End with a final output; `message` stands for one that no model wrote."""
        state, scope = self._state, self._scope
        if not message:
            if await self._events.continues(agent, output):
                await save_turn(scope)
                return
            await scope.hooks.on_agent_end(scope.hook_context(), agent, output)
            if agent.hooks is not None:
                await agent.hooks.on_end(scope.hook_context(), agent, output)
        try:
            await run_output_guardrails(scope, agent, output)
        except OutputGuardrailTripwireTriggered:
            raise
        except Exception:
            await self._save_with(list(message))
            raise
        await self._save_with(list(message))
        state.final_output = output
        state.has_finished = True
        scope.announce_items(list(message))

    async def _save_with(self, message: list[RunItem]) -> None:
        """Add a message and store it; one that cannot be stored is not part of the run."""
        state = self._state
        self._add(message)
        try:
            await save_turn(self._scope)
        except BaseException:
            if message:
                del state.generated_items[-len(message) :]
                del state.session_items[-len(message) :]
            raise

    # -- pieces -----------------------------------------------------------------------------

    async def _start_agent(self, agent: Agent) -> None:
        scope = self._scope
        self._state.has_started_agent = True
        starts = [scope.hooks.on_agent_start(scope.hook_context(), agent)]
        if agent.hooks is not None:
            starts.append(agent.hooks.on_start(scope.hook_context(), agent))
        await asyncio.gather(*starts)

    def _enter_span(self, agent: Agent) -> None:
        """Begin the span of an agent that was handed the run, and end the one before."""
        if self._agent_span is not None and self._span_agent is agent:
            return
        self._leave_span()
        schema = output_schema_of(agent.output_type)
        self._span_agent = agent
        self._agent_span = agent_span(
            agent.name,
            disabled=self._scope.config.tracing_disabled,
            handoffs=[],
            tools=[],
            output_type=schema.name() if schema is not None else "str",
        )
        self._agent_span.start(mark_as_current=True)

    def _leave_span(self) -> None:
        if self._agent_span is not None:
            self._agent_span.finish(reset_current=True)
            self._agent_span = None

    def _describe(self, tools: TurnTools) -> None:
        if self._agent_span is not None:
            data = vars(self._agent_span.span_data)
            data["tools"] = [each.name for each in tools.tools]
            data["handoffs"] = [each.agent_name for each in tools.handoffs]

    def _error_details(self) -> RunErrorDetails:
        state = self._state
        return RunErrorDetails(
            input=state.original_input,
            new_items=list(state.session_items),
            raw_responses=list(state.model_responses),
            last_agent=state.current_agent,
            context_wrapper=self._scope.context,
            input_guardrail_results=list(state.input_guardrail_results),
            output_guardrail_results=list(state.output_guardrail_results),
            tool_input_guardrail_results=list(state.tool_input_guardrail_results),
            tool_output_guardrail_results=list(state.tool_output_guardrail_results),
        )
