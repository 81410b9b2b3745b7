"""MCP servers as files configure them: `.mcp.json`, and `mcpServers` in settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from pydantic import ValidationError

from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.json_positions import parse
from agent.settings.schema import McpServerSection
from permissions.base.files.plain_file import read_text
from permissions.rule import RuleSource


class McpServerText(Struct, frozen=True):
    """One server as configured; variables are not expanded yet."""

    name: str
    raw: Mapping[str, object]
    source: RuleSource
    file: Path | None
    line: int | None
    in_force: bool = True
    """False while a project's server waits for trust."""


def servers_of(loaded: LoadedFile) -> tuple[McpServerText, ...]:
    """Return the servers that a settings file configures."""
    return tuple(
        McpServerText(
            name,
            server.model_dump(exclude_none=True),
            loaded.source,
            loaded.path,
            loaded.line_of("mcpServers", name),
        )
        for name, server in (loaded.model.mcpServers or {}).items()
    )


def read_mcp_file(
    path: Path, source: RuleSource
) -> tuple[tuple[McpServerText, ...], tuple[SettingsWarning, ...]]:
    """Read a `.mcp.json`; a bad server is reported and left out. Raises nothing."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return (), (SettingsWarning(f"cannot be read: {reason}", path, level="error"),)
    return read_mcp_text(text, path, source) if text is not None else ((), ())


def read_mcp_text(
    text: str, path: Path | None, source: RuleSource
) -> tuple[tuple[McpServerText, ...], tuple[SettingsWarning, ...]]:
    """Read the text of a `.mcp.json`; `path` is None for one on the command line."""
    parsed = parse(text)
    if parsed.error is not None:
        message = f"not valid JSON: {parsed.error.message}; its servers are ignored"
        return (), (SettingsWarning(message, path, parsed.error.line, level="error"),)
    listed = parsed.root.get("mcpServers") if parsed.root is not None else None
    if listed is None or not isinstance(listed.value, dict):
        message = 'expected {"mcpServers": {…}}'
        return (), (SettingsWarning(message, path, 1, "mcpServers"),)
    servers: list[McpServerText] = []
    warnings: list[SettingsWarning] = []
    for name, node in listed.members.items():
        try:
            section = McpServerSection.model_validate(node.value)
        except ValidationError as error:
            detail = error.errors(include_url=False)[0]
            message = f"{detail['msg']}; the server is ignored"
            key = ".".join(["mcpServers", name, *map(str, detail["loc"])])
            warnings.append(SettingsWarning(message, path, node.line, key))
            continue
        raw = section.model_dump(exclude_none=True)
        servers.append(McpServerText(name, raw, source, path, node.line))
    return tuple(servers), tuple(warnings)
