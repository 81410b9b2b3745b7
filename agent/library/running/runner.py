"""Running agents: `Runner.run`, `run_sync`, `run_streamed`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping

from agent.library.agents.agent_definition import Agent, AgentToolStreamEvent
from agent.library.agents.agent_output import output_schema_of
from agent.library.agents.late_runner import register_runner
from agent.library.agents.run_hooks import RunHooks
from agent.library.base.awaiting import resolved
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.context.call_context import CallContext
from agent.library.context.run_context import RunContextWrapper
from agent.library.items.item_helpers import ItemHelpers
from agent.library.items.run_events import AgentUpdatedStreamEvent
from agent.library.items.run_items import MessageOutputItem, ToolCallOutputItem
from agent.library.program.standard_gate import standard_gate
from agent.library.program.standard_models import StandardModels
from agent.library.running.engine import RunEngine
from agent.library.running.run_config import (
    DEFAULT_MAX_TURNS,
    RunConfig,
    RunErrorHandlers,
    run_config_of,
)
from agent.library.running.run_result import RunResult, RunResultBase, RunResultStreaming
from agent.library.running.run_scope import RunScope
from agent.library.running.run_state import RunState
from agent.library.sessions.item_session import ItemSession
from agent.library.tools.tool_gate import ToolGate
from agent.library.tracing.run_spans import RunTrace, get_current_trace, trace

RunInput = str | list[InputItem] | RunState


class AgentRunner:
    """What `Runner` runs agents with; derive from it to run them in another way."""

    async def run(
        self,
        starting_agent: Agent,
        input: RunInput,
        *,
        context: RawItem = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks | None = None,
        run_config: RunConfig | Mapping[str, RawItem] | None = None,
        error_handlers: RunErrorHandlers | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: ItemSession | None = None,
    ) -> RunResult:
        """Run an agent as `Runner.run` says. Raises as that."""
        server_state = (previous_response_id, auto_previous_response_id, conversation_id)
        _check_session(session, server_state)
        config = run_config_of(run_config)
        models = StandardModels(config.model, config.model_provider)
        state = _state(starting_agent, input, context, max_turns)
        scope = RunScope(
            state=state,
            config=config,
            hooks=_hooks(hooks),
            find_model=models.model_of,
            gate=_gate(config),
            session=session,
            error_handlers=error_handlers or RunErrorHandlers(),
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
        )
        try:
            with _trace(config):
                await RunEngine(scope).run()
        finally:
            await models.aclose()
        return result_of(state)

    def run_sync(self, starting_agent: Agent, input: RunInput, **options: RawItem) -> RunResult:
        """Run an agent as `Runner.run_sync` says. Raises as that."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError(
                "AgentRunner.run_sync() cannot be called when an event loop is already running."
            )
        loop = _default_loop()
        task = loop.create_task(self.run(starting_agent, input, **options))
        try:
            return loop.run_until_complete(task)
        except BaseException:
            if not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    loop.run_until_complete(task)
            raise
        finally:
            if not loop.is_closed():
                loop.run_until_complete(loop.shutdown_asyncgens())

    def run_streamed(
        self,
        starting_agent: Agent,
        input: RunInput,
        context: RawItem = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks | None = None,
        run_config: RunConfig | Mapping[str, RawItem] | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: ItemSession | None = None,
        *,
        error_handlers: RunErrorHandlers | None = None,
    ) -> RunResultStreaming:
        """Begin a run as `Runner.run_streamed` says."""
        server_state = (previous_response_id, auto_previous_response_id, conversation_id)
        _check_session(session, server_state)
        config = run_config_of(run_config)
        models = StandardModels(config.model, config.model_provider)
        state = _state(starting_agent, input, context, max_turns)
        result = _streaming(state)
        current = _trace(config)
        result.trace = current if isinstance(current, RunTrace) else None

        def emit(event: RawItem) -> None:
            if isinstance(event, AgentUpdatedStreamEvent):
                result.current_agent = event.new_agent
                result._current_agent_output_schema = output_schema_of(event.new_agent.output_type)
            result.emit(event)

        scope = RunScope(
            state=state,
            config=config,
            hooks=_hooks(hooks),
            find_model=models.model_of,
            gate=_gate(config),
            session=session,
            emit=emit,
            error_handlers=error_handlers or RunErrorHandlers(),
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
        )

        async def work() -> None:
            try:
                with current:
                    emit(AgentUpdatedStreamEvent(state.current_agent))
                    engine = RunEngine(
                        scope,
                        is_stopping=lambda: result.is_stopping,
                        after_turn=lambda: _turn_ended(result, state),
                    )
                    await engine.run()
            finally:
                _update(result, state)
                result.end()
                await models.aclose()

        result.run_loop_task = asyncio.get_running_loop().create_task(work())
        result.run_loop_task.add_done_callback(_retrieve)
        return result


class Runner:
    """Runs agents."""

    @classmethod
    async def run(
        cls,
        starting_agent: Agent,
        input: RunInput,
        *,
        context: RawItem = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks | None = None,
        run_config: RunConfig | Mapping[str, RawItem] | None = None,
        error_handlers: RunErrorHandlers | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: ItemSession | None = None,
    ) -> RunResult:
        """Run an agent until it has a final output, or a call waits for approval.

        Args:
            input: Text, items, or the state of an earlier run to go on from.
            context: An object for tools, guardrails and hooks; no model sees it.
            max_turns: How many answers of the model at most; None for no limit.
            session: Where the conversation is kept between runs.

        Raises:
            MaxTurnsExceeded: the turns are used up, and no handler gives an output.
            ModelBehaviorError: the model did what it should not.
            InputGuardrailTripwireTriggered: a guardrail stopped the run; so with the output.
            UserError: the arguments cannot work together.
        """
        return await _default_runner[0].run(
            starting_agent,
            input,
            context=context,
            max_turns=max_turns,
            hooks=hooks,
            run_config=run_config,
            error_handlers=error_handlers,
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
            session=session,
        )

    @classmethod
    def run_sync(
        cls,
        starting_agent: Agent,
        input: RunInput,
        *,
        context: RawItem = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks | None = None,
        run_config: RunConfig | Mapping[str, RawItem] | None = None,
        error_handlers: RunErrorHandlers | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: ItemSession | None = None,
    ) -> RunResult:
        """As `run`, for code without asyncio. Raises as `run`.

        Raises:
            RuntimeError: an event loop runs here already.
        """
        return _default_runner[0].run_sync(
            starting_agent,
            input,
            context=context,
            max_turns=max_turns,
            hooks=hooks,
            run_config=run_config,
            error_handlers=error_handlers,
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
            session=session,
        )

    @classmethod
    def run_streamed(
        cls,
        starting_agent: Agent,
        input: RunInput,
        context: RawItem = None,
        max_turns: int | None = DEFAULT_MAX_TURNS,
        hooks: RunHooks | None = None,
        run_config: RunConfig | Mapping[str, RawItem] | None = None,
        previous_response_id: str | None = None,
        auto_previous_response_id: bool = False,
        conversation_id: str | None = None,
        session: ItemSession | None = None,
        *,
        error_handlers: RunErrorHandlers | None = None,
    ) -> RunResultStreaming:
        """Begin a run and return at once; read `stream_events` of what is returned.

        Arguments are those of `run`. What `run` raises, reading the events raises.
        """
        return _default_runner[0].run_streamed(
            starting_agent,
            input,
            context=context,
            max_turns=max_turns,
            hooks=hooks,
            run_config=run_config,
            error_handlers=error_handlers,
            previous_response_id=previous_response_id,
            auto_previous_response_id=auto_previous_response_id,
            conversation_id=conversation_id,
            session=session,
        )


_default_runner: list[AgentRunner] = [AgentRunner()]


def set_default_agent_runner(runner: AgentRunner | None) -> None:
    """Have `Runner` run agents with another runner; None goes back to the one there is."""
    _default_runner[:] = [runner or AgentRunner()]


async def _turn_ended(result: RunResultStreaming, state: RunState) -> None:
    _update(result, state)
    if not state.has_finished:
        await result.events_consumed()


def _retrieve(task: asyncio.Task[None]) -> None:
    """Have asyncio not complain of an error that nobody reads: it stays in the result."""
    if not task.cancelled():
        task.exception()


def _check_session(session: ItemSession | None, server_state: tuple[RawItem, ...]) -> None:
    if session is not None and any(server_state):
        raise UserError(
            "Session persistence cannot be combined with conversation_id, previous_response_id, "
            "or auto_previous_response_id."
        )


def _default_loop() -> asyncio.AbstractEventLoop:
    """Return the thread's loop, made where there is none; it stays open for the next run."""
    policy = asyncio.get_event_loop_policy()
    try:
        loop = policy.get_event_loop()
    except RuntimeError:
        loop = policy.new_event_loop()
        policy.set_event_loop(loop)
    if loop.is_closed():
        loop = policy.new_event_loop()
        policy.set_event_loop(loop)
    return loop


def _hooks(hooks: RunHooks | None) -> RunHooks:
    if hooks is not None and not isinstance(hooks, RunHooks):
        raise TypeError(f"Run hooks must be instances of RunHooks, got {type(hooks).__name__}")
    return hooks or RunHooks()


def _gate(config: RunConfig) -> RawItem:
    async def gate() -> ToolGate:
        given: ToolGate | None = config.permissions
        return given if given is not None else await standard_gate()

    return gate


def _trace(config: RunConfig) -> RunTrace | contextlib.AbstractContextManager[RunTrace | None]:
    """Return the trace of a run; a run inside of one is part of that."""
    known = get_current_trace()
    if known is not None:
        return contextlib.nullcontext(known)
    return trace(
        config.workflow_name,
        config.trace_id,
        config.group_id,
        config.trace_metadata,
        disabled=config.tracing_disabled,
    )


def _state(agent: Agent, input: RunInput, context: RawItem, max_turns: int | None) -> RunState:
    if isinstance(input, RunState):
        state = input.copy()
        state.has_finished, state.final_output = False, None
        if max_turns != DEFAULT_MAX_TURNS:
            state.max_turns = max_turns
        if context is not None:
            state.context.context = (
                context.context if isinstance(context, RunContextWrapper) else context
            )
        return state
    wrapper = context if isinstance(context, RunContextWrapper) else RunContextWrapper(context)
    return RunState(wrapper, input, agent, max_turns)


def result_of(state: RunState) -> RunResult:
    """Return the result of a run from its state."""
    return RunResult(**_fields(state), _last_agent=state.current_agent, _state=state)


def _fields(state: RunState) -> dict[str, RawItem]:
    return {
        "input": state.original_input,
        "new_items": state.session_items,
        "raw_responses": state.model_responses,
        "final_output": state.final_output,
        "input_guardrail_results": state.input_guardrail_results,
        "output_guardrail_results": state.output_guardrail_results,
        "tool_input_guardrail_results": state.tool_input_guardrail_results,
        "tool_output_guardrail_results": state.tool_output_guardrail_results,
        "context_wrapper": state.context,
        "max_turns": state.max_turns,
        "interruptions": state.interruptions,
    }


def _streaming(state: RunState) -> RunResultStreaming:
    return RunResultStreaming(
        **_fields(state),
        current_agent=state.current_agent,
        current_turn=state.current_turn,
        _state=state,
    )


def _update(result: RunResultStreaming, state: RunState) -> None:
    for name, value in _fields(state).items():
        setattr(result, name, value)
    result.current_turn = state.current_turn
    result.current_agent = state.current_agent


# -- agents as tools ------------------------------------------------------------------------


async def _run_agent_tool(
    agent: RawItem, input: str, context: CallContext, options: dict[str, RawItem]
) -> RawItem:
    """Run an agent for one call of a tool; a state that waited for approvals is taken up."""
    stored = context.nested_states.pop(context.tool_call_id, None)
    given: RunInput = input
    if stored is not None:
        state = stored["state"]
        if not isinstance(state, RunState):
            state = await RunState.from_json(agent, state)
        state.context.restore_approvals(context.approvals_to_json())
        given = state
    run_options: dict[str, RawItem] = {
        "context": _nested_context(context),
        "run_config": options["run_config"] or context.run_config,
        "hooks": options["hooks"],
        "session": options["session"],
        "max_turns": options["max_turns"] or DEFAULT_MAX_TURNS,
    }
    if options["on_stream"] is None:
        result: RunResultBase = await Runner.run(agent, given, **run_options)
    else:
        result = await _streamed_tool(agent, given, context, options["on_stream"], run_options)
    interruptions = getattr(result, "interruptions", [])
    if interruptions:
        nested = result.to_state() if isinstance(result, RunResult | RunResultStreaming) else None
        context.nested_states[context.tool_call_id] = {
            "state": nested,
            "interruptions": interruptions,
        }
        return None
    extract = options["custom_output_extractor"]
    if extract is not None:
        return await resolved(extract(result))
    return _tool_output(result)


def _nested_context(context: CallContext) -> CallContext:
    """Return the context of the inner run: the call that it is for, approvals shared."""
    return CallContext.from_agent_context(
        context.fork(),
        context.tool_call_id,
        context.tool_call,
        context.agent,
        tool_name=context.tool_name,
        tool_arguments=context.tool_arguments,
        run_config=context.run_config,
    )


async def _streamed_tool(
    agent: Agent,
    given: RunInput,
    context: CallContext,
    on_stream: RawItem,
    options: dict[str, RawItem],
) -> RunResultStreaming:
    result = Runner.run_streamed(agent, given, **options)
    async for event in result.stream_events():
        payload = AgentToolStreamEvent(
            event=event, agent=result.current_agent, tool_call=context.tool_call
        )
        await resolved(on_stream(payload))
    return result


def _tool_output(result: RunResultBase) -> RawItem:
    """Return the final output; where that is empty, the last text there is."""
    output = result.final_output
    if output not in (None, "") or result.output_guardrail_results:
        return output
    for item in reversed(result.new_items):
        if isinstance(item, MessageOutputItem) and (text := ItemHelpers.text_message_output(item)):
            return text
        if isinstance(item, ToolCallOutputItem) and isinstance(item.output, str) and item.output:
            return item.output
    return output


register_runner(_run_agent_tool)
