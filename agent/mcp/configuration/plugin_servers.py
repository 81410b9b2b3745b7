"""Servers of plugins, from a plugin's `.mcp.json` and `mcpServers` of its manifest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.mcp.configuration.server_definition import PluginPlace
from agent.settings.file import SettingsWarning
from agent.settings.json_positions import JsonNode, parse
from agent.settings.servers.mcp_file import McpEntries, read_entries
from permissions.base.files.plain_file import read_text
from permissions.paths.resolve import is_below
from permissions.rule import RuleSource

FILE: Final = ".mcp.json"
MANIFEST: Final = Path(".claude-plugin", "plugin.json")


class PluginServers(Struct, frozen=True):
    """The servers of one plugin; each is named `plugin:PLUGIN:SERVER`."""

    place: PluginPlace
    entries: McpEntries


def plugin_servers(root: Path, data_home: Path) -> PluginServers:
    """Read the servers of a plugin. Never raises.

    Args:
        data_home: The directory that contains each plugin's data directory.
    """
    root = root.resolve()
    manifest = _parse_file(root / MANIFEST)
    name_node = manifest.get("name") if isinstance(manifest, JsonNode) else None
    name = str(name_node.value) if name_node is not None and name_node.value else root.name
    place = PluginPlace(name, root, data_home / name)
    all_entries = list(_all_entries(root, manifest))
    servers = [server for one in all_entries for server in one.servers]
    entries = McpEntries(
        tuple(replace(one, name=f"plugin:{name}:{one.name}") for one in servers),
        tuple(bad for one in all_entries for bad in one.bad),
        tuple(warning for one in all_entries for warning in one.warnings),
    )
    return PluginServers(place, entries)


def _all_entries(root: Path, manifest: JsonNode | McpEntries | None) -> Iterator[McpEntries]:
    own = _parse_file(root / FILE)
    if own is not None:
        yield _entries_of_file(own, root / FILE)
    if isinstance(manifest, McpEntries):
        yield manifest
        return
    servers_node = manifest.get("mcpServers") if manifest is not None else None
    for node in _list_parts(servers_node):
        if isinstance(node.value, str):
            yield _of_named_file(root, node, node.value)
        else:
            yield _entries(node, root / MANIFEST)


def _list_parts(node: JsonNode | None) -> Iterator[JsonNode]:
    """Yield each part of `mcpServers` in a manifest: servers, the name of a file, or several."""
    if node is None:
        return
    if not isinstance(node.value, list):
        yield node
        return
    for place in range(len(node.value)):
        part = node.get(place)
        assert part is not None
        yield part


def _of_named_file(root: Path, node: JsonNode, name: str) -> McpEntries:
    path = (root / name).resolve()
    if not is_below(str(path), str(root)):
        return _warning(f"{name} is not in the plugin", root / MANIFEST, node.line)
    if path == root / FILE:
        return McpEntries()
    content = _parse_file(path)
    if content is None:
        return _warning(f"{name} does not exist", root / MANIFEST, node.line)
    return _entries_of_file(content, path)


def _parse_file(path: Path) -> JsonNode | McpEntries | None:
    """Return the JSON of a file, a warning if it is invalid, or None if there is no file."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return _warning(f"cannot be read: {reason}", path, None)
    if text is None:
        return None
    document = parse(text)
    if document.error is not None or document.root is None:
        reason = document.error.message if document.error is not None else "it is empty"
        line = document.error.line if document.error is not None else 1
        return _warning(f"not valid JSON: {reason}; its servers are ignored", path, line)
    return document.root


def _entries_of_file(content: JsonNode | McpEntries, path: Path) -> McpEntries:
    if isinstance(content, McpEntries):
        return content
    # Plugins use both forms: servers by name, at the top or below `mcpServers`.
    return _entries(content.get("mcpServers") or content, path)


def _entries(node: JsonNode, path: Path) -> McpEntries:
    if not isinstance(node.value, dict):
        return _warning('expected {"mcpServers": {…}}', path, node.line)
    return read_entries(node, path, RuleSource.CLI)


def _warning(message: str, path: Path, line: int | None) -> McpEntries:
    return McpEntries(warnings=(SettingsWarning(message, path, line, "mcpServers"),))
