"""All settings of a start: six sources read, trust applied, merged into one frozen value.

Next: `agent.settings.schema` (the keys of a file), `agent.settings.trust` (what a project may do).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import ConfigError, FlagError
from agent.settings.file import (
    UNTIL_REPAIRED,
    LoadedFile,
    SettingsWarning,
    check_owner,
    parse_settings,
    read_settings,
)
from agent.settings.git_config import git_items
from agent.settings.locations import (
    POLICY_DIR,
    expand_home,
    policy_files,
    settings_files,
)
from agent.settings.merge import MergedSettings, Origin, by_precedence, merge
from agent.settings.project_filter import PROJECT_SOURCES, trusted_part
from agent.settings.project_items import items_of_directories, items_of_file, server_item
from agent.settings.project_root import find_project_root, project_directories
from agent.settings.rules import flag_rules, rules_of
from agent.settings.schema import SettingsFile
from agent.settings.servers.mcp_file import (
    BadMcpServer,
    McpEntries,
    McpServerLists,
    McpServerText,
    lists_of,
    read_mcp_file,
)
from agent.settings.servers.start_servers import server_entries
from agent.settings.trust import TrustItem, TrustState, TrustStore, allow_rule_item
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_entry import COUNTS, IGNORED

FILE_SOURCES: Final = frozenset({RuleSource.USER, RuleSource.PROJECT, RuleSource.LOCAL})
"""Sources whose settings are files of the user or of the project."""


class CliSettings(Struct, frozen=True):
    """What the command line sets."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    disallowed_tools: tuple[str, ...] = ()
    settings: str | None = None
    """`--settings`: a file, or settings as JSON text."""
    model: str | None = None
    effort: str | None = None
    permission_mode: str | None = None
    add_dirs: tuple[str, ...] = ()
    mcp_configs: tuple[str, ...] = ()
    trust: TrustState | bool = False
    """`--trust`; for a reload, the state at the start, because it does not cover newer items.
    """
    sources: frozenset[RuleSource] = FILE_SOURCES
    """Which of `FILE_SOURCES` apply; managed settings always apply."""


class HookText(Struct, frozen=True):
    """The `hooks` object of one file, without the handlers that wait for trust."""

    raw: Mapping[str, object]
    source: RuleSource
    file: Path | None


class ModeRequest(Struct, frozen=True):
    """A mode that settings or a flag ask for, as written: it may be unknown."""

    text: str
    origin: Origin


class Settings(Struct, frozen=True):
    """All settings of one launch directory. Replaced as a whole on reload."""

    launch_dir: Path
    project_root: Path
    home: Path
    agent_home: Path
    rules: tuple[RuleText, ...]
    """Rules in force, by source order; allow rules that wait for trust are in `waiting_rules`."""
    waiting_rules: tuple[RuleText, ...]
    hooks: tuple[HookText, ...]
    """Per file, policy first."""
    mcp_servers: tuple[McpServerText, ...]
    """Servers of all sources; of those with one name, the first is used. A project's server is not
    `in_force` before its directory is trusted."""
    env: Mapping[str, str]
    """For commands of the model, and for hooks of projects."""
    own_env: Mapping[str, str]
    """The part of it that no project file sets: for endpoints, for the user's own programs, which
    nothing confines, and for where commands may write."""
    additional_dirs: tuple[Path, ...]
    mode: ModeRequest | None
    effective: MergedSettings
    policy: Mapping[str, object]
    """Managed keys, for the permission context."""
    trust: TrustState
    warnings: tuple[SettingsWarning, ...]
    watched_files: tuple[Path, ...] = ()
    """Files whose changes cause a reload; they need not exist."""
    sources: frozenset[RuleSource] = FILE_SOURCES
    """Those of `FILE_SOURCES` that apply, for commands and instructions too."""
    bad_mcp_servers: tuple[BadMcpServer, ...] = ()
    """Entries that cannot be used, reported in `warnings` as well."""
    mcp_lists: tuple[McpServerLists, ...] = ()
    """The lists of allowed and denied servers, per file."""
    sandbox_files: tuple[LoadedFile, ...] = ()
    """Files with a `sandbox` section, in order of precedence; of project files what may apply."""

    @property
    def values(self) -> SettingsFile:
        """The merged scalars and lists."""
        return self.effective.values

    def limit(self, key: str, flag: float | None) -> float | None:
        """Return a limit such as `maxTurns`: the flag overrides settings, but never exceeds the
        policy's limit. None without a limit."""
        value: float | None = getattr(self.values, key)
        if flag is None or value is None:
            return value if flag is None else flag
        return min(flag, value) if _source_of(self.effective, key) is RuleSource.POLICY else flag

    @property
    def broken_files(self) -> tuple[Path, ...]:
        """Files with a syntax error or that cannot be read."""
        return tuple(w.file for w in self.warnings if w.level == "error" and w.file is not None)


def load_settings(
    *,
    launch_dir: Path,
    home: Path,
    agent_home: Path,
    env: Mapping[str, str] | None = None,
    cli: CliSettings | None = None,
    policy_dir: Path = POLICY_DIR,
    uid: int | None = None,
) -> Settings:
    """Read all sources and return what is in force.

    `env` is the environment of git, which reads the repository; None uses that of the process.

    Raises:
        ConfigError: a managed file or the `--settings` file cannot be used.
    """
    flags = cli or CliSettings()
    user_id = os.getuid() if uid is None else uid
    project_root = find_project_root(launch_dir)
    warnings: list[SettingsWarning] = []
    files = _policy(policy_dir, user_id)
    watched_files: list[Path] = list(policy_files(policy_dir))
    for source, path in _own_files(flags.sources, project_root, home, agent_home):
        watched_files.append(path)
        file, file_warnings = read_settings(path, source)
        warnings.extend(file_warnings)
        if file is not None:
            files.append(file)
    if flags.settings is not None:
        files.append(_load_flag(flags.settings, home))
    with_project = RuleSource.PROJECT in flags.sources
    of_project = McpEntries()
    if with_project:
        warnings.extend(_unused_files(project_root, launch_dir, home, agent_home))
        of_project = read_mcp_file(project_root / ".mcp.json", RuleSource.PROJECT)
        watched_files.append(project_root / ".mcp.json")
    entries = server_entries(files, of_project, flags.mcp_configs, home)
    warnings.extend(warning for one in entries for warning in one.all_warnings)

    own = (agent_home, home / ".claude")
    items = [
        *_items(files, of_project.servers),
        *(items_of_directories(project_root, own, launch_dir=launch_dir) if with_project else ()),
        *git_items(project_root, ReadingPrograms(env or {}, project_root, launch_unconfined)),
    ]
    trust = TrustStore(agent_home / "trust.json")
    state = trust.state(project_root, items, flag=flags.trust)
    applicable: list[LoadedFile] = []
    for file in files:
        applicable_part, refusals = trusted_part(file, state)
        warnings.extend(refusals)
        applicable.append(applicable_part)
    applicable = list(by_precedence(applicable))
    rules, waiting, rule_warnings = _rules(files, flags, state)
    warnings.extend(rule_warnings)
    return Settings(
        launch_dir=launch_dir,
        project_root=project_root,
        home=home,
        agent_home=agent_home,
        rules=rules,
        waiting_rules=waiting,
        hooks=_hooks(applicable),
        mcp_servers=_servers(entries, state),
        mcp_lists=tuple(lists for file in applicable if (lists := lists_of(file)) is not None),
        bad_mcp_servers=tuple(bad for one in entries for bad in one.bad),
        env=_env(applicable),
        own_env=_env(file for file in applicable if file.source not in PROJECT_SOURCES),
        additional_dirs=_directories(applicable, flags, launch_dir, home),
        mode=_mode(applicable, flags),
        effective=_with_flags(merge(applicable), flags),
        policy=_policy_keys(applicable),
        trust=state,
        warnings=tuple(warnings),
        watched_files=tuple(watched_files),
        sources=flags.sources,
        sandbox_files=tuple(file for file in applicable if file.model.sandbox is not None),
    )


def _own_files(
    sources: frozenset[RuleSource], project_root: Path, home: Path, agent_home: Path
) -> Iterator[tuple[RuleSource, Path]]:
    """Yield the paths of project and user files in order of precedence; they need not exist."""
    for source in (RuleSource.PROJECT, RuleSource.LOCAL, RuleSource.USER):
        if source in sources:
            for path in settings_files(
                source, project_root=project_root, home=home, agent_home=agent_home
            ):
                yield source, path


def _hooks(files: Iterable[LoadedFile]) -> tuple[HookText, ...]:
    return tuple(
        HookText(MappingProxyType(file.model.hooks), file.source, file.path)
        for file in files
        if file.model.hooks
    )


def _policy(directory: Path, uid: int) -> list[LoadedFile]:
    """Read the managed files in order of precedence: later drop-ins override earlier ones."""
    try:
        paths = policy_files(directory)
    except OSError as error:
        raise ConfigError(
            f"The managed settings in {directory} cannot be listed: {error.strerror}."
        ) from error
    files: list[LoadedFile] = []
    for path in paths:
        check_owner(path, uid=uid)
        check_owner(path.parent, uid=uid)
        file, warnings = read_settings(path, RuleSource.POLICY)
        bad = [w for w in warnings if w.level != "info"]
        if file is not None:
            bad.extend(rules_of(file)[1])
        if file is None or bad:
            reason = str(bad[0]) if bad else f"{path}: cannot be read"
            for follows in (UNTIL_REPAIRED, COUNTS, IGNORED):
                # The consequence is another one here: the start fails.
                reason = reason.removesuffix(follows)
            end = "" if reason.endswith("?") else "."
            raise ConfigError(
                f"The managed settings cannot be used, and must not be skipped. {reason}{end} "
                "An administrator of this machine can correct them."
            )
        files.insert(0, file)
    return files


def _load_flag(argument: str, home: Path) -> LoadedFile:
    if argument.lstrip().startswith("{"):
        file = parse_settings(argument, RuleSource.CLI, None)
        warnings = file.warnings
    else:
        path = expand_home(argument, home).absolute()
        from_path, warnings = read_settings(path, RuleSource.CLI)
        if from_path is None:
            reason = warnings[0].message if warnings else "file not found"
            raise FlagError(f"--settings {argument}: {reason}.")
        file = from_path
    for warning in (*warnings, *rules_of(file)[1]):
        # Users who pass settings for one run rely on all of them.
        if warning.level != "info":
            raise FlagError(f"--settings: {warning}")
    return file


def _items(files: Iterable[LoadedFile], servers: Iterable[McpServerText]) -> Iterator[TrustItem]:
    for file in files:
        if file.source in PROJECT_SOURCES:
            yield from items_of_file(file)
    for server in servers:
        yield server_item(server.name, server.raw, file=server.file, line=server.line)


def _unused_files(
    project_root: Path, launch_dir: Path, home: Path, agent_home: Path
) -> Iterator[SettingsWarning]:
    """Warn about settings files below the root, which other programs would read."""
    message = f"is not used: the settings of this project are those in {project_root}"
    for place in project_directories(project_root, launch_dir)[:-1]:
        paths = [
            path
            for source in PROJECT_SOURCES
            for path in settings_files(source, project_root=place, home=home, agent_home=agent_home)
        ]
        for path in (*paths, place / ".mcp.json"):
            if os.path.exists(path):
                yield SettingsWarning(message, path)


def _rules(
    files: Iterable[LoadedFile], flags: CliSettings, state: TrustState
) -> tuple[tuple[RuleText, ...], tuple[RuleText, ...], list[SettingsWarning]]:
    in_force: list[RuleText] = []
    waiting: list[RuleText] = []
    warnings: list[SettingsWarning] = []
    for file in files:
        rules, problems = rules_of(file)
        warnings.extend(problems)
        for rule in rules:
            waits = (
                file.source in PROJECT_SOURCES
                and rule.behavior is RuleBehavior.ALLOW
                and not state.in_force(allow_rule_item(rule.text))
            )
            (waiting if waits else in_force).append(rule)
    in_force.extend(
        flag_rules(
            {
                RuleBehavior.DENY: flags.deny,
                RuleBehavior.ASK: flags.ask,
                RuleBehavior.ALLOW: flags.allow,
            },
            flags.disallowed_tools,
        )
    )
    order = list(RuleSource)
    in_force.sort(key=lambda rule: order.index(rule.source))
    return tuple(in_force), tuple(waiting), warnings


def _servers(entries: Iterable[McpEntries], state: TrustState) -> tuple[McpServerText, ...]:
    return tuple(
        replace(
            server,
            in_force=server.source not in PROJECT_SOURCES or _is_server_trusted(server, state),
        )
        for one in entries
        for server in one.servers
    )


def _is_server_trusted(server: McpServerText, state: TrustState) -> bool:
    if not state.by_flag:
        return state.is_trusted
    # Trust for one run covers only what its start found.
    return state.in_force(server_item(server.name, server.raw, file=None, line=None))


def _env(files: Iterable[LoadedFile]) -> Mapping[str, str]:
    variables: dict[str, str] = {}
    for file in files:
        for name, value in (file.model.env or {}).items():
            variables.setdefault(name, value)
    return MappingProxyType(variables)


def _directories(
    files: Iterable[LoadedFile], flags: CliSettings, launch_dir: Path, home: Path
) -> tuple[Path, ...]:
    texts = list(flags.add_dirs)
    for file in files:
        if file.model.permissions is not None:
            texts.extend(file.model.permissions.additionalDirectories or [])
    return tuple(dict.fromkeys(launch_dir / expand_home(text, home) for text in texts))


def _mode(files: Iterable[LoadedFile], flags: CliSettings) -> ModeRequest | None:
    if flags.permission_mode is not None:
        return ModeRequest(flags.permission_mode, Origin(RuleSource.CLI, None, None))
    for file in files:
        permissions = file.model.permissions
        if permissions is not None and permissions.defaultMode is not None:
            line = file.line_of("permissions", "defaultMode")
            return ModeRequest(permissions.defaultMode, Origin(file.source, file.path, line))
    return None


def _with_flags(settings: MergedSettings, flags: CliSettings) -> MergedSettings:
    flag_values = {"model": flags.model, "effortLevel": flags.effort}
    update = {
        key: value
        for key, value in flag_values.items()
        if value is not None and _source_of(settings, key) is not RuleSource.POLICY
    }
    origins = {**settings.origins, **{k: Origin(RuleSource.CLI, None, None) for k in update}}
    return MergedSettings(replace(settings.values, **update), MappingProxyType(origins))


def _source_of(settings: MergedSettings, key: str) -> RuleSource | None:
    origin = settings.origins.get(key)
    return origin.source if origin else None


def _policy_keys(files: Iterable[LoadedFile]) -> Mapping[str, object]:
    """Return the managed keys. Any source may disable bypass mode, which only restricts."""
    keys: dict[str, object] = {}
    for file in files:
        permissions = file.model.permissions
        for name in ("disableBypassPermissionsMode", "disableAutoMode"):
            value = getattr(permissions, name) if permissions is not None else None
            if value in (True, "disable"):
                keys[name] = "disable"
        if file.source is RuleSource.POLICY:
            for name in ("allowManagedPermissionRulesOnly", "allowManagedHooksOnly"):
                if getattr(file.model, name):
                    keys[name] = True
    return MappingProxyType(keys)
