"""Runs agents: `Runner.run`, `run_sync`, `run_streamed`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Unpack

from agent.library.agents.agent_definition import Agent
from agent.library.agents.agent_output import output_schema_of
from agent.library.agents.late_runner import register_runner
from agent.library.agents.run_hooks import RunHooks
from agent.library.base.raw_items import RawItem
from agent.library.base.run_exceptions import UserError
from agent.library.context.run_context import RunContextWrapper
from agent.library.items.run_events import AgentUpdatedStreamEvent
from agent.library.program.standard_gate import StandardGate, standard_gate
from agent.library.program.standard_models import StandardModels
from agent.library.running.agent_tool_runs import AgentToolRuns
from agent.library.running.engine import RunEngine
from agent.library.running.run_arguments import RunArguments, RunInput
from agent.library.state.run_config import (
    DEFAULT_MAX_TURNS,
    RunConfig,
    RunErrorHandlers,
    run_config_of,
)
from agent.library.state.run_result import RunResult, RunResultStreaming
from agent.library.state.run_scope import RunScope
from agent.library.state.run_state import RunState
from agent.library.state.state_results import result_of, streaming_result, update_result
from agent.library.tracing.run_spans import RunTrace, get_current_trace, trace


class AgentRunner:
    """The implementation behind `Runner`; derive from it to change how agents run."""

    async def run(
        self, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResult:
        """Run an agent; see `Runner.run`."""
        state, config, models = _begin_run(starting_agent, input, options)
        try:
            with _trace(config):
                await RunEngine(_scope(state, config, models, options)).run()
        finally:
            await models.aclose()
        return result_of(state)

    def run_sync(
        self, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResult:
        """Run an agent; see `Runner.run_sync`."""
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
        self, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResultStreaming:
        """Start a run; see `Runner.run_streamed`."""
        state, config, models = _begin_run(starting_agent, input, options)
        result = streaming_result(state)
        current = _trace(config)
        result.trace = current if isinstance(current, RunTrace) else None

        def emit(event: RawItem) -> None:
            if isinstance(event, AgentUpdatedStreamEvent):
                result.current_agent = event.new_agent
                result._current_agent_output_schema = output_schema_of(event.new_agent.output_type)
            result.emit(event)

        engine = RunEngine(
            _scope(state, config, models, options, emit),
            is_stopping=lambda: result.is_stopping,
            after_turn=lambda: _on_turn_end(result, state),
        )

        async def work() -> None:
            try:
                with current:
                    emit(AgentUpdatedStreamEvent(state.current_agent))
                    await engine.run()
            finally:
                update_result(result, state)
                result.end()
                await models.aclose()

        result.run_loop_task = asyncio.get_running_loop().create_task(work())
        result.run_loop_task.add_done_callback(_retrieve)
        return result


class Runner:
    """Runs agents. The keyword arguments of all three are `RunArguments`."""

    @classmethod
    async def run(
        cls, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResult:
        """Run an agent until it has a final output, or a call waits for approval.

        Raises:
            MaxTurnsExceeded: the limit of turns is reached, and no handler returns an output.
            ModelBehaviorError: the model did something invalid.
            InputGuardrailTripwireTriggered: a guardrail stopped the run; likewise for outputs.
            UserError: the arguments are incompatible.
        """
        return await _default_runner[0].run(starting_agent, input, **options)

    @classmethod
    def run_sync(
        cls, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResult:
        """Like `run`, for code without asyncio. Raises as `run`.

        Raises:
            RuntimeError: an event loop is already running in this thread.
        """
        return _default_runner[0].run_sync(starting_agent, input, **options)

    @classmethod
    def run_streamed(
        cls, starting_agent: Agent, input: RunInput, **options: Unpack[RunArguments]
    ) -> RunResultStreaming:
        """Start a run and return at once; read `stream_events` of the result.

        Reading the events raises the exceptions of `run`.
        """
        return _default_runner[0].run_streamed(starting_agent, input, **options)


_default_runner: list[AgentRunner] = [AgentRunner()]


def set_default_agent_runner(runner: AgentRunner | None) -> None:
    """Set the runner behind `Runner`; None restores the default."""
    _default_runner[:] = [runner or AgentRunner()]


async def _on_turn_end(result: RunResultStreaming, state: RunState) -> None:
    update_result(result, state)
    if not state.has_finished:
        await result.events_consumed()


def _retrieve(task: asyncio.Task[None]) -> None:
    """Keep asyncio from logging an exception that is not retrieved; it stays in the result."""
    if not task.cancelled():
        task.exception()


def _begin_run(
    agent: Agent, input: RunInput, options: RunArguments
) -> tuple[RunState, RunConfig, StandardModels]:
    """Return the initial state of a run. Raises UserError or TypeError for invalid arguments."""
    if unknown := sorted(options.keys() - RunArguments.__annotations__.keys()):
        raise TypeError(f"Unknown arguments of a run: {', '.join(unknown)}")
    server_state = ("previous_response_id", "auto_previous_response_id", "conversation_id")
    if options.get("session") is not None and any(options.get(name) for name in server_state):
        raise UserError(
            "Session persistence cannot be combined with conversation_id, previous_response_id, "
            "or auto_previous_response_id."
        )
    config = run_config_of(options.get("run_config"))
    max_turns = options.get("max_turns", DEFAULT_MAX_TURNS)
    state = _state(agent, input, options.get("context"), max_turns)
    return state, config, StandardModels(config.model, config.model_provider)


def _scope(
    state: RunState,
    config: RunConfig,
    models: StandardModels,
    options: RunArguments,
    emit: Callable[[RawItem], None] | None = None,
) -> RunScope:
    return RunScope(
        state=state,
        config=config,
        hooks=_hooks(options.get("hooks")),
        find_model=models.model_of,
        find_gate=_gate(config),
        session=options.get("session"),
        emit=emit,
        error_handlers=options.get("error_handlers") or RunErrorHandlers(),
        previous_response_id=options.get("previous_response_id"),
        auto_previous_response_id=options.get("auto_previous_response_id", False),
        conversation_id=options.get("conversation_id"),
    )


def _default_loop() -> asyncio.AbstractEventLoop:
    """Return the thread's loop, created if there is none; it stays open for the next run."""
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
    async def gate() -> StandardGate:
        permissions: StandardGate | None = config.permissions
        return permissions if permissions is not None else await standard_gate()

    return gate


def _trace(config: RunConfig) -> RunTrace | contextlib.AbstractContextManager[RunTrace | None]:
    """Return the trace of a run; a run inside a trace becomes part of it."""
    current = get_current_trace()
    if current is not None:
        return contextlib.nullcontext(current)
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


register_runner(AgentToolRuns(Runner.run, Runner.run_streamed))
