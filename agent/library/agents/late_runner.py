"""Breaks an import cycle: agents that run as tools need the runner, which registers itself here."""

from __future__ import annotations

from typing import Protocol

from agent.library.base.raw_items import InputItem, RawItem
from agent.library.context.call_context import CallContext


class AgentToolRunner(Protocol):
    """Runs an agent for one call of a tool."""

    async def __call__(
        self,
        agent: RawItem,
        input: str | list[InputItem],
        context: CallContext,
        options: dict[str, RawItem],
    ) -> RawItem:
        """Return the output of the tool."""
        ...


_runner: list[AgentToolRunner] = []


def register_runner(runner: AgentToolRunner) -> None:
    """Set the runner for agents that run as tools."""
    _runner[:] = [runner]


async def run_agent_tool(
    agent: RawItem, input: str | list[InputItem], context: CallContext, options: dict[str, RawItem]
) -> RawItem:
    """Run an agent for one tool call and return the tool's output."""
    return await _runner[0](agent, input, context, options)
