"""Builds the results of a run from its state."""

from __future__ import annotations

from agent.library.base.raw_items import RawItem
from agent.library.state.run_result import RunResult, RunResultStreaming
from agent.library.state.run_state import RunState


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


def streaming_result(state: RunState) -> RunResultStreaming:
    """Return the result of a run that is about to start."""
    return RunResultStreaming(
        **_fields(state),
        current_agent=state.current_agent,
        current_turn=state.current_turn,
        _state=state,
    )


def update_result(result: RunResultStreaming, state: RunState) -> None:
    """Update a result from its run's state."""
    for name, value in _fields(state).items():
        setattr(result, name, value)
    result.current_turn = state.current_turn
    result.current_agent = state.current_agent
