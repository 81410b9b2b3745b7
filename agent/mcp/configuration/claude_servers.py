"""Servers that Claude Code stores in `~/.claude.json`: the user's, and those of one project."""

from __future__ import annotations

from pathlib import Path

from agent.settings.json_positions import JsonNode, parse
from agent.settings.servers.mcp_file import McpEntries, read_entries
from permissions.base.files.plain_file import read_text
from permissions.rule import RuleSource


def servers_of_claude(home: Path, project_root: Path) -> tuple[McpEntries, McpEntries]:
    """Return the servers of this project, then those of the user.

    Both are empty if the file, which belongs to another program, cannot be read.
    """
    path = home / ".claude.json"
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError):
        return McpEntries(), McpEntries()
    if not text or '"mcpServers"' not in text:
        return McpEntries(), McpEntries()
    root = parse(text).root
    if root is None:
        return McpEntries(), McpEntries()
    local = root.get("projects", str(project_root), "mcpServers")
    return _entries(local, path), _entries(root.get("mcpServers"), path)


def _entries(node: JsonNode | None, path: Path) -> McpEntries:
    # Only the user writes this file: all its servers, also those of a project, are the user's.
    return read_entries(node, path, RuleSource.USER) if node is not None else McpEntries()
