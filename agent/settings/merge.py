"""Merge several settings files: scalars by precedence, lists and tables are joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from agent.settings.file import LoadedFile
from agent.settings.schema import SettingsFile
from agent.settings.sections.sandbox_section import add_section
from permissions.rule import RuleSource

PRECEDENCE: Final = (
    RuleSource.POLICY,
    RuleSource.CLI,
    RuleSource.LOCAL,
    RuleSource.PROJECT,
    RuleSource.USER,
)
"""Order of sources for scalars, highest first. Rules are ordered by `RuleSource` instead."""

_APART: Final = frozenset(
    {"permissions", "hooks", "env", "mcpServers", "allowedMcpServers", "deniedMcpServers"}
)
_ADDED_UP: Final = frozenset(
    {
        "allowedHttpHookUrls",
        "blockedHosts",
        "claudeMdExcludes",
        "disabledMcpjsonServers",
        "enabledMcpjsonServers",
        "httpHookAllowedEnvVars",
    }
)
_ONLY_OFF: Final = frozenset({"autoMemoryEnabled"})
"""Settings that cost the user money: a project may turn them off, never on."""
_OF_PROJECTS: Final = frozenset({RuleSource.PROJECT, RuleSource.LOCAL})


class Origin(Struct, frozen=True):
    """Where a merged value comes from."""

    source: RuleSource
    file: Path | None
    line: int | None


class MergedSettings(Struct, frozen=True):
    """The settings in force, apart from rules, hooks, MCP servers and `env`."""

    values: SettingsFile
    origins: Mapping[str, Origin] = field(default_factory=dict)
    """By key, the origin of its value; for lists the first place that added to it. Includes keys
    without effect."""


def by_precedence(files: Iterable[LoadedFile]) -> tuple[LoadedFile, ...]:
    """Sort files by precedence, highest first; stable within a source."""
    return tuple(sorted(files, key=lambda file: PRECEDENCE.index(file.source)))


def merge(files: Iterable[LoadedFile]) -> MergedSettings:
    """Merge files that are given in order of precedence."""
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for file in files:
        for key in sorted({*SettingsFile.__struct_fields__} - _APART):
            value = getattr(file.model, key)
            if value is None:
                continue
            if key in _ONLY_OFF and file.source in _OF_PROJECTS and value is True:
                continue
            if key in values:
                values[key] = _combine(key, values[key], value)
            else:
                values[key] = value
                origins[key] = Origin(file.source, file.path, file.line_of(key))
        for key in file.root.members.keys() - {*SettingsFile.__struct_fields__}:
            origins.setdefault(key, Origin(file.source, file.path, file.line_of(key)))
    return MergedSettings(SettingsFile(**values), MappingProxyType(origins))


def _combine(key: str, first: Any, second: Any) -> Any:
    """Return two values joined, or the first one if they cannot be joined."""
    if key == "sandbox":
        return add_section(first, second)
    return list(dict.fromkeys([*first, *second])) if key in _ADDED_UP else first
