"""Which tools an agent gets: those of its parent that its definition permits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from agent.errors import AgentError
from agent.subagents.definition import AgentDefinition
from agent.tools.registry import ToolRegistry
from permissions.tool_names import canonical_tool, restricting_names

STARTS_AGENTS: Final = frozenset({"Agent"})
NEVER: Final = frozenset(
    {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoWrite", "Workflow"}
)
"""Tools that need the user, that change the main conversation's display, or that start runs."""


class NoTools(AgentError):
    """A definition lists tools, but none of them exists; the text names them."""


class AgentTools(Struct, frozen=True):
    """The tools of one agent."""

    registry: ToolRegistry
    only: tuple[str, ...] = ()
    """Rules such as `Bash(git *)`: calls of these tools that match none are denied."""
    missing: tuple[str, ...] = ()
    """Entries of the definition that match no tool."""


def tools_of(
    definition: AgentDefinition,
    parent: ToolRegistry,
    *,
    may_start_agents: bool,
    leads: bool = False,
) -> AgentTools:
    """Return the tools of an agent; one that leads a session can talk to the user.

    Raises:
        NoTools: the definition lists tools, and its parent has none of them.
    """
    left_out = frozenset() if leads else NEVER if may_start_agents else NEVER | STARTS_AGENTS
    names = [tool.name for tool in parent.all() if tool.name not in left_out]
    tool_names = [name for name in names if may_have(definition, name)]
    if definition.tools is None:
        return AgentTools(_restrict_tools(parent, tool_names))
    missing = missing_tools(definition, names)
    if definition.memory is not None:
        tool_names += [
            name
            for name in ("Read", "Write", "Edit")
            if name in names and not _is_disallowed(definition, name)
        ]
    # Tools of servers are added once the servers are connected.
    if not tool_names and not (
        leads and any(entry.startswith("mcp__") for entry in _wanted_tools(definition))
    ):
        raise NoTools(
            f"The agent {definition.name} cannot be started: none of its tools exists "
            f"({', '.join(definition.tools) or 'its list is empty'})."
        )
    return AgentTools(_restrict_tools(parent, tool_names), _rules(definition.tools), missing)


def may_have(definition: AgentDefinition, name: str) -> bool:
    """Whether the lists of a definition permit a tool."""
    if _is_disallowed(definition, name):
        return False
    return definition.tools is None or is_among(_wanted_tools(definition), name)


def _is_disallowed(definition: AgentDefinition, name: str) -> bool:
    return any(is_among(definition.disallowed_tools, one) for one in restricting_names(name))


def missing_tools(definition: AgentDefinition, names: Sequence[str]) -> tuple[str, ...]:
    """Return the entries of a definition's list that match none of these tools."""
    return tuple(
        entry
        for entry in _wanted_tools(definition)
        if not any(_matches_entry(entry, name) for name in names)
    )


def _wanted_tools(definition: AgentDefinition) -> tuple[str, ...]:
    """Return a definition's entries for tools, including those for its servers."""
    return (*(definition.tools or ()), *tools_of_servers(definition))


def tools_of_servers(definition: AgentDefinition) -> tuple[str, ...]:
    """Return entries that match all tools of the servers in a definition."""
    if not definition.mcp_servers:
        return ()
    # Loaded late: most definitions have no servers, and a start without any loads nothing of MCP.
    from agent.mcp.tool_names import server_key

    return tuple(f"mcp__{server_key(name)}" for name in definition.mcp_servers)


def is_among(entries: Sequence[str], name: str) -> bool:
    """Whether one of these entries matches a tool."""
    return any(_matches_entry(entry, name) for entry in entries)


def _matches_entry(entry: str, name: str) -> bool:
    """Whether an entry matches a tool; `mcp__server` and a final `*` match several."""
    tool_name = canonical_tool(entry.partition("(")[0].strip())
    if tool_name.endswith("*"):
        return name.startswith(tool_name[:-1])
    if tool_name.startswith("mcp__") and tool_name.count("__") == 1:
        return name.startswith(f"{tool_name}__")
    return name == tool_name


def _rules(entries: Sequence[str]) -> tuple[str, ...]:
    """Return the entries with a pattern whose tool is not listed without one as well."""
    whole = {canonical_tool(entry) for entry in entries if "(" not in entry}
    return tuple(
        entry
        for entry in entries
        if "(" in entry
        and not entry.endswith(("()", "(*)"))
        and canonical_tool(entry.partition("(")[0].strip()) not in {*whole, *STARTS_AGENTS}
    )


def startable(definition: AgentDefinition) -> tuple[str, ...] | None:
    """Return the kinds that `Agent(a, b)` lists; None for every kind."""
    entries = [
        entry
        for entry in definition.tools or ()
        if canonical_tool(entry.partition("(")[0]) == "Agent"
    ]
    if not entries or any("(" not in entry for entry in entries):
        return None
    return tuple(
        name.strip()
        for entry in entries
        for name in entry.partition("(")[2].removesuffix(")").split(",")
    )


def _restrict_tools(parent: ToolRegistry, names: Sequence[str]) -> ToolRegistry:
    return parent.without({tool.name for tool in parent.all()} - {*names})
