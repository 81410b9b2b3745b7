"""What a worker may use: tools by name, or an agent definition with its tools."""

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
"""Asks the user about the MCP servers of a definition; returns a sentence for each that is not
started."""
_LISTED: Final = 30


class WorkerKinds:
    """The tools and agent definitions that a leader can choose from."""

    def __init__(
        self, catalog: AgentCatalog, registry: ToolRegistry, ask_about_servers: AskAboutServers
    ) -> None:
        """`registry` contains all tools that workers may use."""
        self._catalog = catalog
        self._registry = registry
        self.ask_about_servers = ask_about_servers

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of all tools for workers."""
        return tuple(tool.name for tool in self._registry.all())

    def listing(self) -> str:
        """Return the agent definitions for the model, in one line."""
        return "; ".join(
            f"`{one.name}` ({' '.join(one.description.split())[:100]})"
            for one in self._catalog.all()[:_LISTED]
        )

    def find(self, name: str) -> AgentDefinition:
        """Return a definition. Raises TeamError if it is unknown, naming the known ones, or cannot
        be used for workers."""
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
        """Return the tools of one worker: the requested ones, else those of its definition.

        Raises:
            TeamError: a requested tool is not available, or none are requested or defined.
        """
        names = self.tools
        if kind is not None:
            try:
                kind_tools = tools_of(kind, self._registry, may_start_agents=False, leads=True)
            except AgentError as error:
                raise TeamError(str(error)) from error
            # Tools of its own MCP servers are known only once these run.
            names = (*(tool.name for tool in kind_tools.registry.all()), *tools_of_servers(kind))
        if unknown := [name for name in requested_names if not _matches_name(name, names)]:
            who = "Workers have" if kind is None else f"The agent {kind.name} has"
            raise TeamError(f"{who} no tool {', '.join(unknown)}. There are: {', '.join(names)}.")
        if requested_names:
            return tuple(requested_names)
        if kind is None or kind.tools is None:
            raise TeamError("Name the tools of the subtask: a worker has no others.")
        return names


def _matches_name(entry: str, names: Sequence[str]) -> bool:
    """Return whether an entry matches a name; `mcp__server` matches every tool of a server."""
    if not entry.startswith("mcp__"):
        return entry in names
    return any(is_among((entry,), name) or is_among((name,), entry) for name in names)
