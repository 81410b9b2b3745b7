"""The servers that an agent's definition configures, in the form of those of the settings."""

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
    """Return the servers that a definition configures, as the settings have theirs."""
    # A file of a project counts once its content is trusted; what it starts is asked about too.
    source = _SOURCES.get(definition.source, RuleSource.PROJECT)
    return tuple(
        McpServerText(name, raw, source, definition.path, None)
        for name, raw in definition.own_servers.items()
    )
