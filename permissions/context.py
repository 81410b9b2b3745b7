"""Everything a decision depends on besides the call itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from permissions.confinement import SandboxLevel
from permissions.mode import Mode
from permissions.paths.file_view import FileView, RealFiles
from permissions.rules.rule_set import RuleSet, RuleSource


class SandboxState(Struct, frozen=True):
    """What this machine enforces, and how the user wants commands to be run."""

    level: SandboxLevel = SandboxLevel.NONE
    """Proven by a probe; `none` also where the user switched the sandbox off."""
    works_inside: bool = False
    """Commands run without asking inside the sandbox (`sandbox.enabled` and
    `sandbox.autoAllowBashIfSandboxed`); applies only at level `full`."""
    is_enabled: bool = False
    """Commands run inside the sandbox, asked about as usual (`sandbox.enabled`); applies only at
    level `full`."""
    is_read_only: bool = False
    """Every command runs `read_only`, whatever allowed it (`--sandbox read-only`)."""
    allow_unsandboxed: bool = True
    """Whether a call may ask to leave the sandbox (`dangerouslyDisableSandbox`); else ignored."""
    git_writes: bool = False
    """Whether confined commands may write repositories at level `files`
    (`sandbox.landlockGitWrites`)."""
    excluded_commands: tuple[str, ...] = ()
    """Patterns as in Bash rules; a command with a part that one matches is decided as if the user
    did not work inside the sandbox."""

    @property
    def runs_inside(self) -> bool:
        """Whether commands run inside the sandbox, asked about or not."""
        return self.works_inside or self.is_enabled

    @property
    def may_leave(self) -> bool:
        """Whether the model may ask to run a command outside."""
        is_inside = self.runs_inside and self.level is SandboxLevel.FULL
        return is_inside and self.allow_unsandboxed


class PermissionContext(Struct, frozen=True):
    """The state that decisions are based on. Replaced as a whole when something changes."""

    mode: Mode
    rules: RuleSet
    launch_dir: Path
    """Where the session started: the scope, together with `additional_dirs`."""
    project_root: Path
    """Anchors `/x` rules of project and local settings."""
    home: Path
    additional_dirs: tuple[Path, ...] = ()
    is_trusted: bool = True
    """Whether the user trusts this directory. Until then allow rules from it have no effect."""
    bypass_available: bool = False
    policy: Mapping[str, object] = field(default_factory=dict)
    """Managed keys, e.g. `disableBypassPermissionsMode`; True and "disable" mean the same."""
    own_dirs: tuple[Path, ...] = ()
    """The agent's own directories (settings, hooks, trust store), beside `<home>/.agent`."""
    protected_files: frozenset[str] = frozenset()
    """Absolute paths of files that configured programs run, such as a hook's script: protected like
    settings. As written and with links resolved."""
    written_files: frozenset[str] = frozenset()
    """Those of them that configured programs only write, such as a hook's log."""
    readable_dirs: tuple[Path, ...] = ()
    """Directories that may be read like the scope, e.g. where long tool results are stored."""
    scratch_dir: Path | None = None
    """The session's private temporary directory; inside scope."""
    budget_exceeded: str | None = None
    """Names the exceeded budget; every call is denied while it is set."""
    blocked_hosts: frozenset[str] = frozenset()
    """Hosts that may not be fetched; lower case; covers their subdomains."""
    settings_dir: Path | None = None
    """Anchors `/x` rules of user settings; None is `<home>/.agent`."""
    files: FileView = field(default_factory=RealFiles)
    sandbox: SandboxState = SandboxState()
    """By default nothing is enforced: the level is `none`."""

    def anchor(self, source: RuleSource) -> Path:
        """Return the directory that `/x` in a rule of `source` is relative to."""
        match source:
            case RuleSource.POLICY:
                return Path("/")
            case RuleSource.PROJECT | RuleSource.LOCAL:
                return self.project_root
            case RuleSource.USER:
                return self.settings_dir or self.home / ".agent"
            case RuleSource.CLI | RuleSource.SESSION:
                return self.launch_dir

    def with_mode(self, mode: Mode) -> PermissionContext:
        """Return the same context in another mode."""
        return replace(self, mode=mode)

    def with_directories(self, directories: Iterable[Path]) -> PermissionContext:
        """Return the same context with more working directories."""
        return replace(self, additional_dirs=(*self.additional_dirs, *directories))

    def with_rules(self, rules: RuleSet) -> PermissionContext:
        """Return the same context with other rules."""
        return replace(self, rules=rules)


def is_locked(policy: Mapping[str, object], key: str) -> bool:
    """Return whether a managed switch is on, at the top level or under `permissions`."""
    section = policy.get("permissions")
    values = [policy.get(key)]
    if isinstance(section, Mapping):
        values.append(section.get(key))
    return any(value is True or value == "disable" for value in values)
