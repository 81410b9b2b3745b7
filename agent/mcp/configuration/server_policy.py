"""Applies the lists of allowed and denied servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from agent.mcp.configuration.server_definition import ServerDefinition
from agent.settings.schema import McpMatchSection
from agent.settings.servers.mcp_file import McpServerLists
from permissions.rule import RuleSource


class ServerPolicy(Struct, frozen=True):
    """All lists of one start, merged."""

    allow_entries: tuple[McpMatchSection, ...] | None
    deny_entries: tuple[McpMatchSection, ...]

    def refusal(self, definition: ServerDefinition) -> str | None:
        """Return why a server must not be used, or None if it may be used."""
        if any(_matches(entry, definition) for entry in self.deny_entries):
            return "denied by deniedMcpServers"
        if self.allow_entries is not None and not _is_allowed(self.allow_entries, definition):
            return "not in allowedMcpServers"
        return None


def server_policy(lists: Iterable[McpServerLists]) -> ServerPolicy:
    """Merge the lists of all files: the denied entries, and the applicable allowed ones."""
    all_lists = tuple(lists)
    managed_only = any(one.is_managed_only for one in all_lists)
    valid_lists = [one for one in all_lists if not managed_only or one.source is RuleSource.POLICY]
    allow_lists = [one.allow_list for one in valid_lists if one.allow_list is not None]
    allow_entries = (
        tuple(entry for entries in allow_lists for entry in entries) if allow_lists else None
    )
    if managed_only and allow_entries is None:
        allow_entries = ()
    return ServerPolicy(allow_entries, tuple(entry for one in all_lists for entry in one.deny_list))


def _is_allowed(entries: Sequence[McpMatchSection], definition: ServerDefinition) -> bool:
    # If entries name URLs or commands, a name alone does not suffice: it can be forged.
    if definition.transport == "stdio":
        by_form = [one for one in entries if one.serverCommand is not None]
    else:
        by_form = [one for one in entries if one.serverUrl is not None]
    by_name = [one for one in entries if one.serverName is not None]
    return any(_matches(entry, definition) for entry in (by_form or by_name))


def _matches(entry: McpMatchSection, definition: ServerDefinition) -> bool:
    if entry.serverName is not None:
        return entry.serverName == definition.name
    if entry.serverCommand is not None:
        argv = [definition.command, *definition.args]
        return definition.transport == "stdio" and entry.serverCommand == argv
    is_remote = definition.transport not in ("stdio", "sdk")
    return is_remote and _url_matches(entry.serverUrl or "", definition.url)


def _url_matches(pattern: str, url: str) -> bool:
    scheme, _, rest = pattern.partition("://")
    host, slash, path = rest.partition("/")
    parts = urlsplit(url)
    target = f"{parts.path.lstrip('/')}{'?' + parts.query if parts.query else ''}"
    return (
        _glob(scheme, parts.scheme)
        and _glob(host.lower(), parts.netloc.lower())
        and (not slash or _glob(path, target))
    )


def _glob(pattern: str, text: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text) is not None
