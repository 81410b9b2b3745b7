"""What a worker may be given: tools by name, or a kind of agent with those of its definition."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from agent.errors import AgentError
from agent.subagents.agent_tools import is_among, tools_of, tools_of_servers
from agent.subagents.catalog import AgentCatalog
from agent.subagents.definition import AgentDefinition
from agent.teams.team_message import TeamError
from agent.tools.registry import ToolRegistry

AskAboutServers = Callable[[AgentDefinition], Awaitable[Sequence[str]]]
"""Asks the user about the servers that a kind configures; returns why some are not started, a
sentence each."""
_LISTED: Final = 30


class WorkerKinds:
    """The tools and the kinds that a leader can choose from."""

    def __init__(
        self, catalog: AgentCatalog, registry: ToolRegistry, ask_about_servers: AskAboutServers
    ) -> None:
        """`registry` has the tools that workers may be given at all."""
        self._catalog = catalog
        self._registry = registry
        self.ask_about_servers = ask_about_servers

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(tool.name for tool in self._registry.all())

    def listing(self) -> str:
        """Return the kinds for the model, in one line."""
        return "; ".join(
            f"`{one.name}` ({' '.join(one.description.split())[:100]})"
            for one in self._catalog.all()[:_LISTED]
        )

    def find(self, name: str) -> AgentDefinition:
        """Return a kind. Raises TeamError, which names those there are, and where agents of this
        kind cannot be workers."""
        try:
            kind = self._catalog.get(name)
        except AgentError as error:
            raise TeamError(str(error)) from error
        if kind.isolation is not None:
            raise TeamError(
                f"The agent {kind.name} works in a worktree of its own, which no worker of a team "
                "has. Choose another kind."
            )
        return kind

    def tools_for(
        self, kind: AgentDefinition | None, requested_names: Sequence[str]
    ) -> tuple[str, ...]:
        """Return the tools of one worker: those wanted, as far as its kind has them.

        Raises:
            TeamError: one that is wanted is not there, or there would be none or all.
        """
        names = self.tools
        if kind is not None:
            try:
                kind_tools = tools_of(kind, self._registry, may_start_agents=False, leads=True)
            except AgentError as error:
                raise TeamError(str(error)) from error
            # Those of its own servers are known once these run.
            names = (*(tool.name for tool in kind_tools.registry.all()), *tools_of_servers(kind))
        if unknown := [name for name in requested_names if not _is_there(name, names)]:
            who = "Workers have" if kind is None else f"The agent {kind.name} has"
            raise TeamError(f"{who} no tool {', '.join(unknown)}. There are: {', '.join(names)}.")
        if requested_names:
            return tuple(requested_names)
        if kind is None or kind.tools is None:
            raise TeamError("Name the tools of the subtask: a worker has no others.")
        return names


def _is_there(entry: str, names: Sequence[str]) -> bool:
    """Whether an entry names one of these; `mcp__server` is every tool of a server."""
    if not entry.startswith("mcp__"):
        return entry in names
    return any(is_among((entry,), name) or is_among((name,), entry) for name in names)
