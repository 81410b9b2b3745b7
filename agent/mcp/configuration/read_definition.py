"""Builds the definition of a server from a checked entry of a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, cast

from msgspec import Struct

from agent.mcp.configuration.entry_variables import EntryVariables
from agent.mcp.configuration.server_definition import (
    Era,
    OAuthSettings,
    PluginPlace,
    ServerDefinition,
    ServerScope,
    Transport,
    digest_of,
)
from agent.settings.locations import expand_home
from agent.settings.project_filter import PROJECT_SOURCES
from agent.settings.servers.mcp_file import McpServerText
from permissions.rule import RuleSource

SCOPES: Final[Mapping[RuleSource, ServerScope]] = {
    RuleSource.POLICY: "managed",
    RuleSource.CLI: "dynamic",
    RuleSource.LOCAL: "local",
    RuleSource.PROJECT: "project",
    RuleSource.USER: "user",
}
_MIN_TIMEOUT_MS: Final = 1000
"""Smaller values, probably meant as seconds, are ignored."""


class ReadDefinition(Struct, frozen=True):
    """A definition, with warnings for users."""

    definition: ServerDefinition
    warnings: tuple[str, ...] = ()


def read_definition(
    text: McpServerText,
    env: Mapping[str, str],
    *,
    home: Path,
    directory: Path,
    scope: ServerScope | None = None,
    plugin: PluginPlace | None = None,
) -> ReadDefinition:
    """Return the definition of a checked entry; relative directories are resolved against
    `directory`, or the directory of its plugin."""
    raw = text.raw
    where = "plugin" if plugin is not None else scope or SCOPES[text.source]
    of_plugin = plugin.variables if plugin is not None else {}
    start = plugin.root if plugin is not None else directory
    variables = EntryVariables({**env, **of_plugin})
    args = raw.get("args")
    kind = str(raw.get("type") or "stdio").replace("streamable-http", "http")
    is_own = text.source not in PROJECT_SOURCES and where != "plugin"
    definition = ServerDefinition(
        name=text.name,
        transport=cast("Transport", kind),
        scope=where,
        is_foreign=not is_own,
        entry=raw,
        digest=digest_of(text.name, raw, plugin),
        command=variables.text(_text(raw, "command")),
        args=tuple(variables.text(str(one)) for one in args) if isinstance(args, list) else (),
        env={**of_plugin, **variables.table(_table(raw, "env"))},
        cwd=start / expand_home(variables.text(_text(raw, "cwd")), home)
        if raw.get("cwd")
        else None,
        url=variables.text(_text(raw, "url")).strip(),
        headers=variables.table(_table(raw, "headers")),
        headers_helper=_text(raw, "headersHelper") or None,
        timeout_s=_timeout(raw),
        oauth=_oauth(raw),
        always_load=raw.get("alwaysLoad") is True,
        is_required=raw.get("required") is True,
        enabled_tools=_names(raw, "enabledTools"),
        disabled_tools=_names(raw, "disabledTools") or (),
        trusts_annotations=is_own and raw.get("trustAnnotations") is True,
        inherits_env=is_own and raw.get("envInherit") is True,
        is_confined=not (is_own and raw.get("sandbox") is False),
        protocol=cast("Era | None", raw.get("protocol")),
        plugin=plugin,
        file=text.file,
        line=text.line,
    )
    warnings = [
        f"${{{name}}} is not set, and it has no default (${{{name}:-…}})"
        for name in variables.missing
    ]
    if not is_own:
        where_from = "in a project" if plugin is None else "in a plugin"
        warnings.extend(
            f"{key} has no effect {where_from}: set it in your own settings"
            for key, value in (("trustAnnotations", True), ("envInherit", True), ("sandbox", False))
            if raw.get(key) is value
        )
    return ReadDefinition(definition, tuple(warnings))


def _text(raw: Mapping[str, object], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _table(raw: Mapping[str, object], key: str) -> dict[str, str]:
    value = raw.get(key)
    return {str(n): str(v) for n, v in value.items()} if isinstance(value, Mapping) else {}


def _names(raw: Mapping[str, object], key: str) -> tuple[str, ...] | None:
    value = raw.get(key)
    return tuple(map(str, value)) if isinstance(value, list) else None


def _timeout(raw: Mapping[str, object]) -> float | None:
    value = raw.get("timeout")
    if not isinstance(value, int | float) or value < _MIN_TIMEOUT_MS:
        return None
    return value / 1000


def _oauth(raw: Mapping[str, object]) -> OAuthSettings | None:
    value = raw.get("oauth")
    if not isinstance(value, Mapping):
        return None
    port = value.get("callbackPort")
    return OAuthSettings(
        client_id=_text(value, "clientId") or None,
        callback_port=port if isinstance(port, int) else None,
        metadata_url=_text(value, "authServerMetadataUrl") or None,
        scopes=_text(value, "scopes") or None,
    )
