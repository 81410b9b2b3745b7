"""What a worker may be given: tools by name, or a kind of agent with those of its definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.errors import AgentError
from agent.subagents.agent_tools import tools_of
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.teams.team_message import TeamError
from agent.tools.registry import ToolRegistry

_LISTED: Final = 30


class WorkerKinds:
    """The tools and the kinds that a leader can choose from."""

    def __init__(self, catalog: AgentCatalog, offered: ToolRegistry) -> None:
        """`offered` has the tools that workers may be given at all."""
        self._catalog = catalog
        self._offered = offered

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(tool.name for tool in self._offered.all())

    def listing(self) -> str:
        """Return the kinds for the model, in one line."""
        return "; ".join(
            f"`{one.name}` ({' '.join(one.description.split())[:100]})"
            for one in self._catalog.all()[:_LISTED]
        )

    def find(self, name: str) -> AgentDefinition:
        """Return a kind. Raises TeamError, which names those there are."""
        try:
            return self._catalog.get(name)
        except AgentError as error:
            raise TeamError(str(error)) from error

    def tools_for(self, kind: AgentDefinition | None, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return the tools of one worker: those wanted, as far as its kind has them.

        Raises:
            TeamError: one that is wanted is not there, or there would be none or all.
        """
        there = self.tools
        if kind is not None:
            try:
                found = tools_of(kind, self._offered, may_start_agents=False)
            except AgentError as error:
                raise TeamError(str(error)) from error
            there = tuple(tool.name for tool in found.registry.all())
        if unknown := [name for name in wanted if name not in there]:
            who = "Workers have" if kind is None else f"The agent {kind.name} has"
            raise TeamError(f"{who} no tool {', '.join(unknown)}. There are: {', '.join(there)}.")
        if wanted:
            return tuple(wanted)
        if kind is None or kind.tools is None:
            raise TeamError("Name the tools of the subtask: a worker has no others.")
        return there
