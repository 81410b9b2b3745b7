"""The agent that leads a session: its prompt, tools and model replace the defaults."""

from __future__ import annotations

from pathlib import Path

from agent.errors import AgentError, UsageError
from agent.subagents.agent_memory import notes_limit
from agent.subagents.agent_tools import AgentTools, tools_of
from agent.subagents.catalog import AgentCatalog, UnknownAgent
from agent.subagents.definition import AgentDefinition
from agent.tools.registry import ToolRegistry
from permissions.agent_limits import agent_limits
from permissions.gate import PermissionGate
from permissions.subagent_gate import SubagentGate


def lead_of(name: str | None, catalog: AgentCatalog) -> AgentDefinition | None:
    """Return the agent to lead; None if `name` is empty. Raises UsageError if it is unknown."""
    if not name:
        return None
    try:
        return catalog.get(name)
    except UnknownAgent as error:
        raise UsageError(str(error)) from error


def tools_of_lead(lead: AgentDefinition, registry: ToolRegistry) -> AgentTools:
    """Return the tools of a session that an agent leads. Raises UsageError if it has none."""
    try:
        return tools_of(lead, registry, may_start_agents=True, leads=True)
    except AgentError as error:
        raise UsageError(str(error)) from error


def gate_of_lead(
    lead: AgentDefinition | None,
    only: tuple[str, ...],
    gate: PermissionGate,
    roots: tuple[Path, Path],
) -> PermissionGate:
    """Return the gate for the session's calls, with the limits of the agent that leads it.

    `roots` are the project and the agent's home, below which agents keep their notes.
    """
    notes = notes_limit(lead, *roots) if lead is not None else None
    if lead is None or (lead.permission_mode is None and not only and notes is None):
        return gate
    return SubagentGate(
        gate,
        agent_limits(
            agent=lead.name,
            file=str(lead.path) if lead.path is not None else None,
            mode=lead.permission_mode,
            only=only,
            notes=notes,
        ),
    )
