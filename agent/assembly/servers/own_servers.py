"""The servers that an agent's definition configures, in the form that settings use."""

from __future__ import annotations

from typing import Final

from agent.settings.servers.mcp_file import McpServerText
from agent.subagents.definition import AgentDefinition, AgentSource
from permissions.rule import RuleSource

_SOURCES: Final = {
    AgentSource.POLICY: RuleSource.POLICY,
    AgentSource.FLAG: RuleSource.CLI,
    AgentSource.USER: RuleSource.USER,
}


def own_servers(definition: AgentDefinition) -> tuple[McpServerText, ...]:
    """Return the servers that a definition configures."""
    # A project's file applies once the project is trusted; its servers also need consent.
    source = _SOURCES.get(definition.source, RuleSource.PROJECT)
    return tuple(
        McpServerText(name, raw, source, definition.path, None)
        for name, raw in definition.own_servers.items()
    )
