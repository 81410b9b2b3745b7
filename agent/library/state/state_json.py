"""States of runs as JSON, with our own schema version."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from pydantic import BaseModel

from agent.library.agents.agent_definition import Agent
from agent.library.agents.guards import (
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailResult,
)
from agent.library.agents.handoffs import Handoff
from agent.library.base.raw_items import DictItem, RawItem, as_json
from agent.library.base.run_exceptions import UserError
from agent.library.base.run_usage import usage_of, usage_to_json
from agent.library.context.run_context import RunContextWrapper
from agent.library.items import run_items
from agent.library.items.response_json import read_model_response, response_json
from agent.library.items.run_items import (
    HandoffOutputItem,
    RunItem,
    ToolApprovalItem,
    ToolCallOutputItem,
)
from agent.library.state.run_progress import RunProgress

StateT = TypeVar("StateT", bound=RunProgress)

VERSION: Final = "agent-tui-1"

_KINDS: Final = {
    each.type: each
    for each in vars(run_items).values()
    if isinstance(each, type) and issubclass(each, run_items.RunItemBase) and hasattr(each, "type")
}


def state_to_json(
    state: RunProgress,
    context_serializer: Callable[[RawItem], Mapping[str, RawItem]] | None,
    *,
    strict_context: bool,
) -> dict[str, RawItem]:
    """Return a state as JSON values.

    Raises:
        UserError: the context has no JSON form, and `strict_context` is set.
    """
    return {
        "$schemaVersion": VERSION,
        "original_input": as_json(state.original_input),
        "starting_agent": state.starting_agent.name,
        "current_agent": state.current_agent.name,
        "max_turns": state.max_turns,
        "current_turn": state.current_turn,
        "generated_items": [_item_json(each) for each in state.generated_items],
        "session_items": [_item_json(each) for each in state.session_items],
        "shared_items": _shared_positions(state),
        "compacted": as_json(state.compaction),
        "turn_start": state.turn_start,
        "saved_count": state.saved_count,
        "model_responses": [response_json(each) for each in state.model_responses],
        "interruptions": [_item_json(each) for each in state.interruptions],
        "is_interrupted": state.is_interrupted,
        "used_tools": sorted(state.used_tools),
        "has_finished": state.has_finished,
        "has_started_agent": state.has_started_agent,
        "final_output": as_json(state.final_output),
        "trace_id": state.trace_id,
        "context": {
            "value": _context_json(state.context.context, context_serializer, strict_context),
            "usage": usage_to_json(state.context.usage),
            "approvals": state.context.approvals_to_json(),
            "nested_states": as_json(state.context.nested_states),
        },
        "input_guardrail_results": [
            {
                "name": each.guardrail.get_name(),
                "output_info": as_json(each.output.output_info),
                "tripwire_triggered": each.output.tripwire_triggered,
            }
            for each in state.input_guardrail_results
        ],
    }


def state_to_string(
    state: RunProgress,
    context_serializer: Callable[[RawItem], Mapping[str, RawItem]] | None,
    *,
    strict_context: bool,
) -> str:
    """Return a state as JSON text. Raises UserError as `state_to_json`."""
    return json.dumps(state_to_json(state, context_serializer, strict_context=strict_context))


def parse_state(text: str) -> Mapping[str, RawItem]:
    """Parse the text of a state.

    Raises:
        UserError: it is not a JSON object.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"Failed to parse run state JSON: {error}") from error
    if not isinstance(data, dict):
        raise UserError("Failed to parse run state JSON: it is not an object.")
    return data


def read_state(
    kind: type[StateT],
    initial_agent: Agent,
    data: Mapping[str, RawItem],
    context_override: RawItem,
    context_deserializer: Callable[[Mapping[str, RawItem]], RawItem] | None,
) -> StateT:
    """Restore a state from the values that `state_to_json` returned.

    Raises:
        UserError: the values are not such a state, or name an unknown agent.
    """
    version = data.get("$schemaVersion")
    if version != VERSION:
        raise UserError(
            "Run state is missing schema version"
            if version is None
            else f"Run state schema version {version} is not supported; expected {VERSION}."
        )
    agents = agents_by_name(initial_agent)
    context = _context(data["context"], context_override, context_deserializer)
    state = kind(
        context,
        data["original_input"],
        _find_agent(agents, data["starting_agent"]),
        data["max_turns"],
    )
    state.current_agent = _find_agent(agents, data["current_agent"])
    for name in ("current_turn", "turn_start", "saved_count", "is_interrupted", "has_finished"):
        setattr(state, name, data[name])
    state.has_started_agent = data["has_started_agent"]
    state.final_output = data["final_output"]
    state.trace_id = data["trace_id"]
    state.used_tools = set(data["used_tools"])
    if data.get("compacted") is not None:
        count, items = data["compacted"]
        state.compaction = (count, items)
    state.session_items = [_item(each, agents) for each in data["session_items"]]
    state.generated_items = [
        state.session_items[index] if index is not None else _item(each, agents)
        for each, index in zip(data["generated_items"], data["shared_items"], strict=True)
    ]
    state.interruptions = [
        each
        for each in (_item(each, agents) for each in data["interruptions"])
        if isinstance(each, ToolApprovalItem)
    ]
    state.model_responses = [read_model_response(each) for each in data["model_responses"]]
    state.input_guardrail_results = [
        _guardrail(each, initial_agent) for each in data["input_guardrail_results"]
    ]
    return state


def agents_by_name(initial: Agent) -> dict[str, Agent]:
    """Return all agents that are reachable from one by handoffs, by name.

    Raises:
        UserError: two of them have the same name.
    """
    by_name: dict[str, Agent] = {}
    waiting = [initial]
    while waiting:
        agent = waiting.pop(0)
        first = by_name.setdefault(agent.name, agent)
        if first is not agent:
            raise UserError(f"Two agents are named {agent.name!r}; a state needs unique names.")
        for each in agent.handoffs:
            target = each.target if isinstance(each, Handoff) else each
            if isinstance(target, Agent) and target is not by_name.get(target.name):
                waiting.append(target)
    return by_name


def _find_agent(agents: Mapping[str, Agent], name: str) -> Agent:
    if name not in agents:
        raise UserError(f"Agent {name} not found in agent map")
    return agents[name]


def _shared_positions(state: RunProgress) -> list[int | None]:
    """Return, for each of the model's items, its index in the session's items, or None."""
    positions = {id(each): index for index, each in enumerate(state.session_items)}
    return [positions.get(id(each)) for each in state.generated_items]


def _item_json(item: RunItem) -> dict[str, RawItem]:
    data: dict[str, RawItem] = {
        "type": getattr(item, "type", ""),
        "agent": item.agent.name,
        "raw_item": as_json(item.raw_item),
    }
    if isinstance(item, ToolCallOutputItem):
        data["output"] = as_json(item.output)
    elif isinstance(item, HandoffOutputItem):
        data["source_agent"] = item.source_agent.name
        data["target_agent"] = item.target_agent.name
    elif isinstance(item, ToolApprovalItem):
        data.update(tool_name=item.tool_name, reason=item.reason)
    return data


def _item(data: Mapping[str, RawItem], agents: Mapping[str, Agent]) -> RunItem:
    kind = _KINDS.get(data["type"])
    if kind is None:
        raise UserError(f"A run state has an item of unknown type {data['type']!r}.")
    extras = {
        name: _find_agent(agents, value) if name.endswith("_agent") else value
        for name, value in data.items()
        if name not in ("type", "agent", "raw_item")
    }
    return kind(_find_agent(agents, data["agent"]), DictItem(data["raw_item"]), **extras)


def _guardrail(data: Mapping[str, RawItem], agent: Agent) -> InputGuardrailResult:
    by_name = {each.get_name(): each for each in agent.input_guardrails}
    name = data["name"]
    guardrail = by_name.get(name) or InputGuardrail(_lost_guardrail, name)
    output = GuardrailFunctionOutput(data["output_info"], data["tripwire_triggered"])
    return InputGuardrailResult(guardrail, output)


def _lost_guardrail(
    _context: RunContextWrapper, _agent: RawItem, _input: RawItem
) -> GuardrailFunctionOutput:
    raise UserError("This guardrail is part of a stored result; it cannot run.")


def _context_json(
    value: RawItem,
    serializer: Callable[[RawItem], Mapping[str, RawItem]] | None,
    strict: bool,
) -> RawItem:
    if serializer is not None:
        return dict(serializer(value))
    if value is None or isinstance(value, str | int | float | bool | dict | list):
        return as_json(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return as_json(dataclasses.asdict(value))
    if strict:
        raise UserError(
            "RunState serialization requires context to be a mapping when strict_context is True. "
            "Provide context_serializer."
        )
    return None


def _context(
    data: Mapping[str, RawItem],
    override: RawItem,
    deserializer: Callable[[Mapping[str, RawItem]], RawItem] | None,
) -> RunContextWrapper:
    value = data["value"]
    if deserializer is not None:
        value = deserializer(value)
    if isinstance(override, RunContextWrapper):
        value = override.context
    elif override is not None:
        value = override
    context = RunContextWrapper(context=value, usage=usage_of(data["usage"]))
    context.restore_approvals(data["approvals"])
    context.nested_states = dict(data["nested_states"])
    return context
