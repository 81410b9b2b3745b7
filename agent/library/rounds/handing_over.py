"""Carries out a handoff: the next agent, and what it receives of the conversation."""

from __future__ import annotations

import asyncio
import copy
from dataclasses import dataclass

from agent.library.agents.agent_definition import Agent
from agent.library.agents.handoff_history import nest_handoff_history
from agent.library.agents.handoffs import HandoffInputData
from agent.library.base.awaiting import resolve_value
from agent.library.base.raw_items import read
from agent.library.base.run_exceptions import UserError
from agent.library.items.item_helpers import ItemHelpers
from agent.library.items.run_items import HandoffOutputItem, RunItem, ToolCallOutputItem
from agent.library.rounds.response_reading import HandoffRun
from agent.library.state.run_scope import RunScope
from agent.library.tracing.run_spans import handoff_span

IGNORED = "Multiple handoffs detected, ignoring this one."


@dataclass(frozen=True)
class HandedOver:
    """The result of a handoff."""

    agent: Agent
    new_items: list[RunItem]
    """Outputs of the handoff calls; they belong to the turn's items."""


async def hand_over(scope: RunScope, agent: Agent, runs: list[HandoffRun]) -> HandedOver:
    """Call the first handoff; the others get a note as output.

    Raises:
        UserError: the handoff does not return an agent.
    """
    first = runs[0]
    items: list[RunItem] = [
        ToolCallOutputItem(agent, ItemHelpers.tool_call_output_item(run.call, IGNORED), IGNORED)
        for run in runs[1:]
    ]
    with handoff_span(agent.name, disabled=scope.config.tracing_disabled) as span:
        if len(runs) > 1:
            names = [run.handoff.agent_name for run in runs]
            span.set_error(
                {
                    "message": "Multiple handoffs requested",
                    "data": {"requested_agents": names},
                }
            )
        target = await first.handoff.on_invoke_handoff(
            scope.context, read(first.call, "arguments") or ""
        )
        if not isinstance(target, Agent):
            raise UserError(f"The handoff {first.handoff.tool_name} does not lead to an agent.")
        span.span_data.__dict__["to_agent"] = target.name
        message = first.handoff.get_transfer_message(target)
        raw = ItemHelpers.tool_call_output_item(first.call, message)
        items.append(HandoffOutputItem(agent, raw, agent, target))
        hooks = [scope.hooks.on_handoff(context=scope.context, from_agent=agent, to_agent=target)]
        if agent.hooks is not None:
            hooks.append(agent.hooks.on_handoff(context=scope.context, agent=target, source=agent))
        await asyncio.gather(*hooks)
    return HandedOver(target, items)


async def filter_history(
    scope: RunScope, run: HandoffRun, earlier: list[RunItem], turn: list[RunItem]
) -> list[RunItem]:
    """Change the next agent's input as filters and settings require.

    Returns the turn's items as the session keeps them.

    Raises:
        UserError: a filter is not callable, or returns the wrong type.
    """
    config, state = scope.config, scope.state
    input_filter = run.handoff.input_filter or config.handoff_input_filter
    nests = run.handoff.nest_handoff_history
    if input_filter is None and not (config.nest_handoff_history if nests is None else nests):
        return turn
    original = state.original_input
    data = HandoffInputData(
        input_history=tuple(original) if isinstance(original, list) else original,
        pre_handoff_items=tuple(earlier),
        new_items=tuple(turn),
        run_context=scope.context,
    )
    if input_filter is None:
        data = nest_handoff_history(data, history_mapper=config.handoff_history_mapper)
    else:
        if not callable(input_filter):
            raise UserError(f"Invalid input filter: {input_filter}")
        data = await resolve_value(input_filter(data))
        if not isinstance(data, HandoffInputData):
            raise UserError(f"Invalid input filter result: {data}")
    history = data.input_history
    state.original_input = copy.deepcopy(history) if isinstance(history, str) else list(history)
    model_items = data.new_items if data.input_items is None else data.input_items
    state.generated_items = [*data.pre_handoff_items, *model_items]
    state.compaction = None
    return list(data.new_items)
