"""MCP servers as configured in files: `.mcp.json`, and `mcpServers` in settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.json_positions import JsonNode, parse
from agent.settings.schema import McpMatchSection
from agent.settings.servers.mcp_entry import EntryMistake, entry_mistake, padded_fields
from permissions.base.files.plain_file import read_text
from permissions.rule import RuleSource


class McpServerText(Struct, frozen=True):
    """One entry as configured; variables are not expanded yet."""

    name: str
    raw: Mapping[str, object]
    source: RuleSource
    file: Path | None
    line: int | None
    in_force: bool = True
    """False while the directory of a project's server is not trusted."""


class BadMcpServer(Struct, frozen=True):
    """An entry that cannot be used."""

    name: str
    mistake: EntryMistake
    source: RuleSource
    file: Path | None
    line: int | None

    def warning(self) -> SettingsWarning:
        """Return a warning for users, with file, line and key."""
        key = ".".join(["mcpServers", self.name, *map(str, self.mistake.path)])
        message = f"{self.mistake.message}; the server is ignored"
        return SettingsWarning(message, self.file, self.line, key)


class McpEntries(Struct, frozen=True):
    """The servers in one file."""

    servers: tuple[McpServerText, ...] = ()
    bad: tuple[BadMcpServer, ...] = ()
    warnings: tuple[SettingsWarning, ...] = ()
    """Warnings about the file and about usable entries; those about `bad` are separate."""

    @property
    def all_warnings(self) -> tuple[SettingsWarning, ...]:
        """All warnings, including those about unusable entries."""
        return (*self.warnings, *(one.warning() for one in self.bad))


def servers_of(settings_file: LoadedFile) -> McpEntries:
    """Return the servers of a settings file; none if it has a syntax error."""
    servers = settings_file.root.get("mcpServers")
    if settings_file.is_broken or servers is None:
        return McpEntries()
    return read_entries(servers, settings_file.path, settings_file.source)


def read_mcp_file(path: Path, source: RuleSource) -> McpEntries:
    """Read a `.mcp.json`; an invalid server is reported and ignored. Raises nothing."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        warning = SettingsWarning(f"cannot be read: {reason}", path, level="error")
        return McpEntries(warnings=(warning,))
    return read_mcp_text(text, path, source) if text is not None else McpEntries()


def read_mcp_text(text: str, path: Path | None, source: RuleSource) -> McpEntries:
    """Read the text of a `.mcp.json`; `path` is None for one on the command line."""
    document = parse(text)
    if document.error is not None:
        message = f"not valid JSON: {document.error.message}"
        if path is not None:  # without a file it is a flag, and the start fails
            message += "; its servers are ignored"
        warning = SettingsWarning(message, path, document.error.line, level="error")
        return McpEntries(warnings=(warning,))
    servers = document.root.get("mcpServers") if document.root is not None else None
    if servers is None or not isinstance(servers.value, dict):
        message = 'expected {"mcpServers": {…}}'
        if document.root is not None and document.root.get("servers") is not None:
            message += '; "servers", as VS Code has it, is called "mcpServers" here'
        return McpEntries(warnings=(SettingsWarning(message, path, 1, "mcpServers"),))
    return read_entries(servers, path, source)


def read_entries(section: JsonNode, path: Path | None, source: RuleSource) -> McpEntries:
    """Read an object that maps names to servers."""
    servers: list[McpServerText] = []
    bad: list[BadMcpServer] = []
    warnings: list[SettingsWarning] = []
    for name, node in section.members.items():
        mistake = entry_mistake(name, node.value)
        if mistake is not None:
            bad.append(BadMcpServer(name, mistake, source, path, node.line_of(*mistake.path)))
            continue
        assert isinstance(node.value, dict)
        servers.append(McpServerText(name, node.value, source, path, node.line))
        for steps in padded_fields(node.value):
            key = ".".join(["mcpServers", name, *map(str, steps)])
            message = "begins or ends with white space"
            warnings.append(SettingsWarning(message, path, node.line_of(*steps), key))
    return McpEntries(tuple(servers), tuple(bad), tuple(warnings))


class McpServerLists(Struct, frozen=True):
    """The lists in one settings file of servers that may and may not be used."""

    source: RuleSource
    allow_list: tuple[McpMatchSection, ...] | None
    """None means no list; an empty list allows none."""
    deny_list: tuple[McpMatchSection, ...]
    is_managed_only: bool


def lists_of(settings_file: LoadedFile) -> McpServerLists | None:
    """Return a file's lists, or None if it has none."""
    model = settings_file.model
    allow_list, managed_only = model.allowedMcpServers, model.allowManagedMcpServersOnly is True
    if allow_list is None and not model.deniedMcpServers and not managed_only:
        return None
    return McpServerLists(
        settings_file.source,
        None if allow_list is None else tuple(allow_list),
        tuple(model.deniedMcpServers or ()),
        settings_file.source is RuleSource.POLICY and managed_only,
    )
