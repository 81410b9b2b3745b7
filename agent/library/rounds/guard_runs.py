"""Runs guardrails concurrently; the first tripwire cancels the others."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from agent.library.agents.agent_definition import Agent
from agent.library.agents.guards import (
    InputGuardrail,
    InputGuardrailResult,
    OutputGuardrailResult,
)
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.base.run_exceptions import (
    InputGuardrailTripwireTriggered,
    OutputGuardrailTripwireTriggered,
)
from agent.library.state.run_scope import RunScope
from agent.library.tracing.run_spans import guardrail_span

ResultT = TypeVar("ResultT", InputGuardrailResult, OutputGuardrailResult)


async def run_input_guardrails(
    scope: RunScope,
    agent: Agent,
    guardrails: list[InputGuardrail],
    input: str | list[InputItem],
) -> None:
    """Run guardrails on the input; their results are added to the run's.

    Raises:
        InputGuardrailTripwireTriggered: a guardrail triggered its tripwire.
    """

    async def ask(guardrail: InputGuardrail) -> InputGuardrailResult:
        with guardrail_span(guardrail.get_name(), disabled=scope.config.tracing_disabled) as span:
            result = await guardrail.run(agent, input, scope.context)
            span.span_data.__dict__["triggered"] = result.output.tripwire_triggered
            scope.is_tripped = scope.is_tripped or result.output.tripwire_triggered
            return result

    results = scope.state.input_guardrail_results
    tripwire = await _first_tripwire([ask(each) for each in guardrails], results)
    if tripwire is not None:
        raise InputGuardrailTripwireTriggered(tripwire)


async def run_output_guardrails(scope: RunScope, agent: Agent, output: RawItem) -> None:
    """Run the agent's and the run's guardrails on the final output.

    Raises:
        OutputGuardrailTripwireTriggered: a guardrail triggered its tripwire.
    """
    guardrails = [*agent.output_guardrails, *(scope.config.output_guardrails or [])]

    async def ask(guardrail: RawItem) -> OutputGuardrailResult:
        with guardrail_span(guardrail.get_name(), disabled=scope.config.tracing_disabled) as span:
            result: OutputGuardrailResult = await guardrail.run(scope.context, agent, output)
            span.span_data.__dict__["triggered"] = result.output.tripwire_triggered
            return result

    results = scope.state.output_guardrail_results
    tripwire = await _first_tripwire([ask(each) for each in guardrails], results)
    if tripwire is not None:
        raise OutputGuardrailTripwireTriggered(tripwire)


async def _first_tripwire(
    asks: list[Coroutine[None, None, ResultT]], results: list[ResultT]
) -> ResultT | None:
    """Return the first result with a tripwire, else None; results so far are added to `results`."""
    tasks = [asyncio.ensure_future(ask) for ask in asks]
    try:
        for task in asyncio.as_completed(tasks):
            result = await task
            results.append(result)
            if result.output.tripwire_triggered:
                return result
    finally:
        for each in tasks:
            each.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return None
