"""The MCP servers of a start: from the command line, the settings files and the project."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from agent.errors import FlagError
from agent.settings.file import LoadedFile
from agent.settings.locations import expand_home
from agent.settings.merge import by_precedence
from agent.settings.servers.mcp_file import (
    McpEntries,
    read_mcp_file,
    read_mcp_text,
    servers_of,
)
from permissions.rule import RuleSource


def server_entries(
    files: Iterable[LoadedFile], of_project: McpEntries, configs: Iterable[str], home: Path
) -> list[McpEntries]:
    """Return the server entries of each place, in order of precedence.

    `configs` are files, or their JSON texts, from the command line. Raises FlagError for these.
    """
    from_flags = [_flag_servers(config, home) for config in configs]
    settings = [(file.source, servers_of(file)) for file in by_precedence(files)]
    first = [entries for source, entries in settings if source is not RuleSource.USER]
    last = [entries for source, entries in settings if source is RuleSource.USER]
    return [*from_flags, *first, of_project, *last]


def _flag_servers(config: str, home: Path) -> McpEntries:
    if config.lstrip().startswith("{"):
        entries = read_mcp_text(config, None, RuleSource.CLI)
    else:
        path = expand_home(config, home).absolute()
        entries = read_mcp_file(path, RuleSource.CLI)
        if not entries.all_warnings and not os.path.exists(path):
            raise FlagError(f"--mcp-config {config}: file not found.")
    if entries.warnings and not entries.servers and not entries.bad:
        raise FlagError(f"--mcp-config: {entries.warnings[0]}.")
    return entries
