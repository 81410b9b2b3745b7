"""Agents run as tools need the runner, which needs agents: it registers itself here."""

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
        """Return what the tool returns."""
        ...


_runner: list[AgentToolRunner] = []


def register_runner(runner: AgentToolRunner) -> None:
    """Have agents run as tools by this from now on."""
    _runner[:] = [runner]


async def run_agent_tool(
    agent: RawItem, input: str | list[InputItem], context: CallContext, options: dict[str, RawItem]
) -> RawItem:
    """Run an agent for one call."""
    return await _runner[0](agent, input, context, options)
