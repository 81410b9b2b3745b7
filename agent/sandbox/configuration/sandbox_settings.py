"""The `sandbox` sections of all settings files as one value.

A scalar is taken from the source with the highest precedence; lists are concatenated. Values by
which a project's files would widen access were dropped when they were read
(`agent.settings.project_filter`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.sandbox.configuration.configured_paths import ConfiguredPath, read_path
from agent.sandbox.network.host_name import InvalidHost
from agent.sandbox.network.host_rules import HostRule, HostRules, parse_host_rule
from agent.settings.file import LoadedFile, SettingsWarning
from agent.settings.load import Settings
from agent.settings.project_filter import PROJECT_SOURCES
from agent.settings.sections.sandbox_section import values_of
from permissions.rule import RuleSource

KeyPath = tuple[str | int, ...]

_MANAGED_ONLY: Final = (
    ("filesystem", "allowManagedReadPathsOnly"),
    ("network", "allowManagedDomainsOnly"),
    ("bwrapPath",),
)
_WITHOUT_EFFECT: Final = (
    ("filesystem", "disabled"),
    ("ignoreViolations",),
    ("enableWeakerNestedSandbox",),
    ("enableWeakerNetworkIsolation",),
    ("allowAppleEvents",),
    ("socatPath",),
    ("ripgrep",),
    ("network", "allowLocalBinding"),
    ("network", "allowMachLookup"),
    ("network", "httpProxyPort"),
    ("network", "socksProxyPort"),
    ("network", "tlsTerminate"),
    ("credentials", "awsPairs"),
    ("credentials", "sigv4"),
    ("credentials", "allowPlaintextInject"),
)
"""Keys that other programs' sandboxes define and this one ignores."""


class SandboxSettings(Struct, frozen=True, kw_only=True):
    """What the settings say about the sandbox."""

    enabled: bool = False
    """Whether the user works inside the sandbox."""
    auto_allow_bash: bool = False
    """Whether Bash then runs without asking; a project's settings alone cannot enable it."""
    fail_if_unavailable: bool = False
    allow_unsandboxed_commands: bool = True
    """Whether a call may ask to run outside."""
    confines_hooks: bool = True
    """`hooks`: whether hooks of projects, plugins, skills and agents are confined to the
    project."""
    excluded_commands: tuple[str, ...] = ()
    """Patterns as in Bash rules, such as `docker *`, for commands that run outside."""
    allow_write: tuple[ConfiguredPath, ...] = ()
    deny_write: tuple[ConfiguredPath, ...] = ()
    deny_read: tuple[ConfiguredPath, ...] = ()
    allow_read: tuple[ConfiguredPath, ...] = ()
    denied_variables: tuple[str, ...] = ()
    """Environment variables that commands do not get."""
    hosts: HostRules = HostRules()
    """From `network`, without the hosts of permission rules."""
    strict_allowlist: bool = False
    """Whether hosts that no rule allows are refused without a question."""
    managed_domains_only: bool = False
    """Whether only managed settings allow hosts."""
    all_unix_sockets: bool = False
    unix_sockets: tuple[str, ...] = ()
    """Paths of Unix sockets that confined commands may connect to."""
    landlock_git_writes: bool = False
    """Whether level `files` opens working directories with their repositories."""
    bubblewrap: str = ""
    """`bwrapPath`; empty to search for it."""
    warnings: tuple[SettingsWarning, ...] = ()
    """Entries without effect, each with the reason."""


def sandbox_settings(settings: Settings) -> SandboxSettings:
    """Return the merged `sandbox` sections."""
    return _Joined(settings).value()


class CurrentSandboxSettings:
    """Merges the sections of the current settings; caches the result until the settings change."""

    def __init__(self, settings: Callable[[], Settings]) -> None:
        """`settings` returns the current settings, the same object as long as nothing changed."""
        self._settings = settings
        self._current: tuple[Settings, SandboxSettings] | None = None

    def __call__(self) -> SandboxSettings:
        """Return the merged sandbox settings."""
        settings = self._settings()
        if self._current is None or self._current[0] is not settings:
            self._current = settings, sandbox_settings(settings)
        return self._current[1]


class _Joined:
    """Reads the sections, highest precedence first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files = settings.sandbox_files
        self._warnings: list[SettingsWarning] = []

    def value(self) -> SandboxSettings:
        for file in self._files:
            self._note_without_effect(file)
        only_managed_reads = self._is_managed("filesystem", "allowManagedReadPathsOnly")
        only_managed_hosts = self._is_managed("network", "allowManagedDomainsOnly")
        deny_read, variables = self._credentials()
        return SandboxSettings(
            enabled=self._flag(("enabled",), False),
            auto_allow_bash=self._flag(("autoAllowBashIfSandboxed",), True)
            and self._is_enabled_by_user(),
            fail_if_unavailable=self._flag(("failIfUnavailable",), False),
            allow_unsandboxed_commands=self._flag(("allowUnsandboxedCommands",), True),
            confines_hooks=self._flag(("hooks",), True),
            excluded_commands=self._texts(("excludedCommands",)),
            allow_write=self._paths("allowWrite", takes_wildcards=False),
            deny_write=self._paths("denyWrite", takes_wildcards=True),
            deny_read=(*self._paths("denyRead", takes_wildcards=True), *deny_read),
            allow_read=self._paths(
                "allowRead", takes_wildcards=False, only_managed=only_managed_reads
            ),
            denied_variables=variables,
            hosts=HostRules(
                self._hosts("allowedDomains", only_managed=only_managed_hosts),
                self._hosts("deniedDomains"),
            ),
            strict_allowlist=self._flag(("network", "strictAllowlist"), False),
            managed_domains_only=only_managed_hosts,
            all_unix_sockets=self._flag(("network", "allowAllUnixSockets"), False),
            unix_sockets=tuple(
                os.path.expanduser(one) for one in self._texts(("network", "allowUnixSockets"))
            ),
            landlock_git_writes=self._flag(("landlockGitWrites",), False),
            bubblewrap=next(iter(self._texts(("bwrapPath",), only_managed=True)), ""),
            warnings=tuple(self._warnings),
        )

    def _flag(self, path: KeyPath, default: bool) -> bool:
        values = (_value(file, path) for file in self._files)
        return next((value for value in values if isinstance(value, bool)), default)

    def _is_managed(self, *path: str) -> bool:
        files = (each for each in self._files if each.source is RuleSource.POLICY)
        return any(_value(file, path) is True for file in files)

    def _is_enabled_by_user(self) -> bool:
        """Return whether a source other than the project's files enables the sandbox."""
        own = (each for each in self._files if each.source not in PROJECT_SOURCES)
        return any(_value(file, ("enabled",)) is True for file in own)

    def _texts(self, path: KeyPath, *, only_managed: bool = False) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for _, _, text in self._entries(path, only_managed)))

    def _entries(
        self, path: KeyPath, only_managed: bool = False
    ) -> Iterator[tuple[LoadedFile, KeyPath, str]]:
        """Yield file, place and text of each entry of a list, or of a single string."""
        for file in self._files:
            value = _value(file, path)
            if only_managed and file.source is not RuleSource.POLICY:
                continue
            if isinstance(value, str):
                yield file, path, value
            for index, entry in enumerate(value if isinstance(value, list) else ()):
                if isinstance(entry, str):
                    yield file, (*path, index), entry

    def _paths(
        self, key: str, *, takes_wildcards: bool, only_managed: bool = False
    ) -> tuple[ConfiguredPath, ...]:
        entries = self._entries(("filesystem", key), only_managed)
        return tuple(self._read_paths(entries, takes_wildcards=takes_wildcards))

    def _read_paths(
        self, entries: Iterator[tuple[LoadedFile, KeyPath, str]], *, takes_wildcards: bool
    ) -> Iterator[ConfiguredPath]:
        for file, place, text in entries:
            try:
                base = self._base(file)
                path = read_path(text, file.source, base, self._settings.home)
            except ValueError as error:
                self._warn(file, place, f"{text!r} is ignored: {error}")
                continue
            if path.has_wildcards and not takes_wildcards:
                self._warn(file, place, f"{text!r} is ignored: no wildcards here, but for /**")
                continue
            yield path

    def _base(self, file: LoadedFile) -> Path:
        """Return the directory that relative paths are resolved against."""
        if file.source in PROJECT_SOURCES:
            return self._settings.project_root
        return self._settings.launch_dir if file.path is None else file.path.parent

    def _hosts(self, key: str, *, only_managed: bool = False) -> tuple[HostRule, ...]:
        rules: list[HostRule] = []
        for file, place, text in self._entries(("network", key), only_managed):
            try:
                rules.append(parse_host_rule(text, file.source))
            except InvalidHost as error:
                self._warn(file, place, f"is ignored: {error}")
        return tuple(rules)

    def _credentials(self) -> tuple[tuple[ConfiguredPath, ...], tuple[str, ...]]:
        """Return the files that may not be read and the environment variables to remove."""
        files: list[tuple[LoadedFile, KeyPath, str]] = []
        variables: list[str] = []
        for settings_file in self._files:
            section = settings_file.model.sandbox
            if section is None or section.credentials is None:
                continue
            for index, file in enumerate(section.credentials.files or ()):
                files.append((settings_file, ("credentials", "files", index), file.path))
                self._note_mask(settings_file, files[-1][1], file.mode)
            for index, variable in enumerate(section.credentials.envVars or ()):
                variables.append(variable.name)
                self._note_mask(settings_file, ("credentials", "envVars", index), variable.mode)
        paths = tuple(self._read_paths(iter(files), takes_wildcards=True))
        return paths, tuple(dict.fromkeys(variables))

    def _note_mask(self, file: LoadedFile, place: KeyPath, mode: str) -> None:
        if mode == "mask":
            self._warn(file, place, '"mask" works as "deny": nothing is put in its place', "info")

    def _note_without_effect(self, file: LoadedFile) -> None:
        for path in _WITHOUT_EFFECT:
            if _value(file, path) is not None:
                self._warn(file, path, "has no effect in this program", "info")
        if file.source is RuleSource.POLICY:
            return
        for path in _MANAGED_ONLY:
            if _value(file, path) is not None:
                self._warn(file, path, "is ignored: it takes effect in managed settings only")

    def _warn(self, file: LoadedFile, place: KeyPath, message: str, level: str = "warning") -> None:
        where: KeyPath = ("sandbox", *place)
        self._warnings.append(
            SettingsWarning(
                message,
                file.path,
                file.line_of(*where),
                ".".join(map(str, where)),
                "info" if level == "info" else "warning",
            )
        )


def _value(file: LoadedFile, path: Sequence[str | int]) -> object:
    """Return the value at a place of a file's section, or None."""
    section = file.model.sandbox
    value: object = {} if section is None else values_of(section)
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value
