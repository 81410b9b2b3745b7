"""All configured servers, and whether each may start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from agent.mcp.configuration.claude_servers import servers_of_claude
from agent.mcp.configuration.consent_store import (
    ConsentStore,
    earlier_entry,
    is_approved,
)
from agent.mcp.configuration.plugin_servers import PluginServers, plugin_servers
from agent.mcp.configuration.read_definition import ReadDefinition, read_definition
from agent.mcp.configuration.server_definition import PluginPlace, ServerDefinition, ServerScope
from agent.mcp.configuration.server_policy import server_policy
from agent.mcp.tool_names import server_key
from agent.settings.file import SettingsWarning
from agent.settings.load import Settings
from agent.settings.locations import POLICY_DIR
from agent.settings.servers.mcp_file import BadMcpServer, McpEntries, McpServerText, read_mcp_file
from permissions.rule import RuleSource

Standing = Literal[
    "may_start",
    "needs_trust",
    "needs_approval",
    "rejected",
    "blocked",
    "disabled",
    "not_configured",
    "same_endpoint",
]
PROJECT_VARIABLES: Final = ("CLAUDE_PROJECT_DIR", "AGENT_TUI_PROJECT_DIR")
"""Variables with which entries of projects begin their paths."""
_WAITS: Final = frozenset({"needs_trust", "needs_approval", "rejected"})


class ConfiguredServer(Struct, frozen=True):
    """One server, and whether it may start."""

    definition: ServerDefinition
    standing: Standing
    reason: str = ""
    """Why it may not, for users; empty if it may."""
    earlier: Mapping[str, object] | None = None
    """The approved entry that it replaced, if it waits for approval."""
    replaces_own: bool = False
    """Whether it would start in place of a server of the user that has the same name."""


class ConfiguredServers(Struct, frozen=True):
    """All configured servers."""

    servers: tuple[ConfiguredServer, ...] = ()
    """One per name, in order of precedence."""
    waiting: tuple[ConfiguredServer, ...] = ()
    """Servers to ask the user about, in a trusted directory."""
    bad: tuple[BadMcpServer, ...] = ()
    warnings: tuple[SettingsWarning, ...] = ()
    """Warnings in addition to those of the settings."""

    def get(self, name: str) -> ConfiguredServer | None:
        """Return the server of this name; None if there is none."""
        return next((one for one in self.servers if one.definition.name == name), None)

    @property
    def startable(self) -> tuple[ServerDefinition, ...]:
        """Return the servers that may start."""
        return tuple(one.definition for one in self.servers if one.standing == "may_start")


class ServerSources(Struct, frozen=True, kw_only=True):
    """Sources of servers besides the settings."""

    env: Mapping[str, str]
    """The environment of the start, for variables in entries."""
    strict: bool = False
    """Whether only servers of the command line, and managed ones, may start."""
    plugin_dirs: tuple[Path, ...] = ()
    """Directories of plugins whose servers are used."""
    of_lead: tuple[McpServerText, ...] = ()
    """Servers from the definition of the agent that leads the session."""
    policy_dir: Path = POLICY_DIR


class _Candidate(Struct, frozen=True):
    text: McpServerText
    scope: ServerScope | None = None
    """None means the scope of the source."""
    plugin: PluginPlace | None = None


def configured_servers(settings: Settings, sources: ServerSources) -> ConfiguredServers:
    """Read servers outside the settings, too, and judge every server. Never raises."""
    managed_file = sources.policy_dir / "managed-mcp.json"
    policy_entries = read_mcp_file(managed_file, RuleSource.POLICY)
    is_exclusive = managed_file.exists()
    candidates = [_Candidate(text) for text in policy_entries.servers]
    others = [policy_entries]
    bad = settings.bad_mcp_servers
    if is_exclusive:
        bad = ()
    elif sources.strict:
        bad = tuple(one for one in bad if one.source is RuleSource.CLI)
        candidates += map(_Candidate, _texts_of_sources(settings, RuleSource.CLI))
    else:
        local, user = servers_of_claude(settings.home, settings.project_root)
        plugins = _plugins(settings, sources)
        others += [local, user, *(one.entries for one in plugins)]
        candidates += _in_order(settings, local, user)
        candidates += map(_Candidate, sources.of_lead)
        candidates += (
            _Candidate(text, plugin=one.place) for one in plugins for text in one.entries.servers
        )
    reads = [(one.text, _read(one, settings, sources)) for one in candidates]
    judge = _Judge(settings, [read.definition for _, read in reads])
    servers = [judge.judge(text, read.definition) for text, read in reads]
    return ConfiguredServers(
        tuple(_without_same_endpoints(_one_per_name(servers))),
        tuple(one for one in servers if one.standing == "needs_approval"),
        (*bad, *(one for entries in others for one in entries.bad)),
        (*(w for one in others for w in one.all_warnings), *_warnings(reads)),
    )


def judged_servers(
    texts: Sequence[McpServerText], settings: Settings, sources: ServerSources
) -> tuple[ConfiguredServer, ...]:
    """Judge servers that the settings do not contain, such as those of an agent's definition."""
    is_exclusive = (sources.policy_dir / "managed-mcp.json").exists()
    own = [_read(_Candidate(text), settings, sources).definition for text in settings.mcp_servers]
    judge = _Judge(settings, own)
    servers: list[ConfiguredServer] = []
    for text in texts:
        one = judge.judge(text, _read(_Candidate(text), settings, sources).definition)
        if is_exclusive and text.source is not RuleSource.POLICY:
            one = replace(one, standing="blocked", reason="a managed file lists those allowed")
        elif sources.strict and text.source not in (RuleSource.CLI, RuleSource.POLICY):
            one = replace(one, standing="blocked", reason="only --mcp-config names servers here")
        servers.append(one)
    return tuple(servers)


def _plugins(settings: Settings, sources: ServerSources) -> list[PluginServers]:
    data_home = settings.agent_home / "plugins" / "data"
    return [plugin_servers(root, data_home) for root in sources.plugin_dirs]


def _texts_of_sources(settings: Settings, *sources: RuleSource) -> Iterator[McpServerText]:
    return (one for one in settings.mcp_servers if one.source in sources)


def _in_order(settings: Settings, local: McpEntries, user: McpEntries) -> list[_Candidate]:
    above = (RuleSource.CLI, RuleSource.POLICY, RuleSource.LOCAL)
    return [
        *map(_Candidate, _texts_of_sources(settings, *above)),
        *(_Candidate(text, "local") for text in local.servers),
        *map(_Candidate, _texts_of_sources(settings, RuleSource.PROJECT)),
        *map(_Candidate, _texts_of_sources(settings, RuleSource.USER)),
        *map(_Candidate, user.servers),
    ]


def _read(candidate: _Candidate, settings: Settings, sources: ServerSources) -> ReadDefinition:
    own = {name: str(settings.project_root) for name in PROJECT_VARIABLES}
    return read_definition(
        candidate.text,
        {**own, **sources.env},
        home=settings.home,
        directory=settings.project_root,
        scope=candidate.scope,
        plugin=candidate.plugin,
    )


class _Judge:
    """Decides whether a definition may start."""

    def __init__(self, settings: Settings, definitions: Iterable[ServerDefinition]) -> None:
        self._settings = settings
        self._own_names = {
            server_key(one.name): one.name for one in definitions if not one.is_foreign
        }
        self._consents = ConsentStore(settings.agent_home).of(settings.project_root)
        self._policy = server_policy(settings.mcp_lists)

    def judge(self, text: McpServerText, definition: ServerDefinition) -> ConfiguredServer:
        refusal = self._policy.refusal(definition)
        if refusal is not None:
            return ConfiguredServer(definition, "blocked", refusal)
        if definition.name in self._consents.disabled:
            return ConfiguredServer(definition, "disabled", "turned off here")
        if definition.is_foreign:
            own_name = self._own_names.get(server_key(definition.name), definition.name)
            if own_name != definition.name:
                reason = f"rules could not tell its tools from those of your server {own_name}"
                return ConfiguredServer(definition, "blocked", reason)
            waits = self._foreign_refusal(text, definition)
            if waits is not None:
                return waits
        if not definition.is_local and not definition.url:
            return ConfiguredServer(definition, "not_configured", 'its "url" is empty')
        return ConfiguredServer(definition, "may_start")

    def _foreign_refusal(
        self, text: McpServerText, definition: ServerDefinition
    ) -> ConfiguredServer | None:
        values = self._settings.values
        if definition.name in (values.disabledMcpjsonServers or ()):
            return ConfiguredServer(
                definition, "rejected", "rejected (see disabledMcpjsonServers in settings)"
            )
        answer = is_approved(self._consents, definition)
        if answer is False:
            return ConfiguredServer(definition, "rejected", "you rejected it")
        if not text.in_force:
            reason = "waits until this directory is trusted (/trust)"
            return ConfiguredServer(definition, "needs_trust", reason)
        if answer or self._by_flag or (definition.plugin is None and self._is_listed(definition)):
            return None
        earlier = earlier_entry(self._consents, definition)
        reason = "changed since you approved it" if earlier is not None else "waits for approval"
        replaces_own = definition.name in self._own_names.values()
        return ConfiguredServer(definition, "needs_approval", reason, earlier, replaces_own)

    def _is_listed(self, definition: ServerDefinition) -> bool:
        """Return whether the user's settings approve a project's server by name, or all servers."""
        values = self._settings.values
        names = values.enabledMcpjsonServers or ()
        return definition.name in names or values.enableAllProjectMcpServers is True

    @property
    def _by_flag(self) -> bool:
        return self._settings.trust.by_flag


def _one_per_name(servers: Iterable[ConfiguredServer]) -> list[ConfiguredServer]:
    """Keep the first of each name; a waiting one gives way to a later one that does not wait."""
    by_name: dict[str, ConfiguredServer] = {}
    for one in servers:
        first = by_name.get(one.definition.name)
        if first is None or (first.standing in _WAITS and one.standing not in _WAITS):
            by_name[one.definition.name] = one
    return list(by_name.values())


def _without_same_endpoints(servers: Iterable[ConfiguredServer]) -> Iterator[ConfiguredServer]:
    """Of servers of different scopes with one URL, let only the first start: no duplicate tools.
    Two of one scope differ on purpose, for example in headers."""
    by_endpoint: dict[str, ServerDefinition] = {}
    for one in servers:
        definition = one.definition
        if one.standing != "may_start" or definition.is_local:
            yield one
            continue
        first = by_endpoint.setdefault(_endpoint(definition.url), definition)
        if first.scope == definition.scope:
            yield one
        else:
            yield replace(one, standing="same_endpoint", reason=f"same endpoint as {first.name}")


def _endpoint(url: str) -> str:
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}{query}"


def _warnings(reads: Iterable[tuple[McpServerText, ReadDefinition]]) -> Iterator[SettingsWarning]:
    for text, read in reads:
        for message in read.warnings:
            yield SettingsWarning(message, text.file, text.line, f"mcpServers.{text.name}")
