"""Adds servers to the file of a scope, and removes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from agent.errors import ConfigError
from agent.mcp.configuration.consent_store import ConsentStore
from agent.mcp.configuration.read_definition import read_definition
from agent.mcp.configuration.server_definition import ServerDefinition
from agent.settings.change import set_entry
from agent.settings.ignore_in_git import ignore_in_git
from agent.settings.load import Settings
from agent.settings.servers.mcp_entry import entry_mistake
from agent.settings.servers.mcp_file import McpServerText
from permissions.base.text.late_pattern import compile_late
from permissions.rule import RuleSource

WritableScope = Literal["local", "project", "user"]
SECTION: Final = "mcpServers"
_NAME: Final = compile_late(r"[A-Za-z0-9_-]+")
_SOURCES: Final[Mapping[WritableScope, RuleSource]] = {
    "local": RuleSource.LOCAL,
    "project": RuleSource.PROJECT,
    "user": RuleSource.USER,
}


def file_of(settings: Settings, scope: WritableScope) -> Path:
    """Return the file to which servers of a scope are added."""
    match scope:
        case "local":
            return settings.project_root / ".agent" / "settings.local.json"
        case "project":
            return settings.project_root / ".mcp.json"
        case "user":
            return settings.agent_home / "settings.json"


def add_server(
    settings: Settings, scope: WritableScope, name: str, entry: Mapping[str, object]
) -> ServerDefinition:
    """Add a server to a scope, which also approves it.

    Raises:
        ConfigError: the name or the entry is invalid, or the name is taken in this scope.
        OSError: the file cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r}: a name has only letters, digits, - and _.")
    mistake = entry_mistake(name, dict(entry))
    if mistake is not None:
        where = "".join(f"{step}: " for step in mistake.path)
        raise ConfigError(f"{name}: {where}{mistake.message}.")
    file, source = file_of(settings, scope), _SOURCES[scope]
    if any(one.name == name and one.file == file for one in settings.mcp_servers):
        raise ConfigError(f"{file} has a server {name!r} already: agent-tui mcp remove {name}")
    set_entry(file, SECTION, name, dict(entry), is_shared=scope == "project")
    text = McpServerText(name, entry, source, file, None)
    read = read_definition(text, {}, home=settings.home, directory=settings.project_root)
    if scope != "user":
        ConsentStore(settings.agent_home).answer(settings.project_root, read.definition, "approved")
    if scope == "local":
        ignore_in_git(file)
    return read.definition


def remove_server(settings: Settings, scope: WritableScope, name: str) -> bool:
    """Remove a server from the file of a scope; return whether it was there.

    Raises:
        ConfigError: the file does not contain a JSON object.
        OSError: the file cannot be written.
    """
    file = file_of(settings, scope)
    if not file.exists():
        return False
    return set_entry(file, SECTION, name, None, is_shared=scope == "project")
