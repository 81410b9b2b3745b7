"""Apply changes of settings files to a running conversation: rules, hooks and available modes.

This includes open asks: a permission dialog closes when a new rule decides it. If the files cannot
be loaded, the last valid settings stay in force and the problem is reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from agent.hook_events.config import hook_config
from agent.permission_config.contenders import is_auto_available
from agent.permission_config.named_files import protected_files, written_files
from agent.settings.load import Settings
from agent.settings.watch import Reloaded, ReloadFailed, SettingsChange, reload, watch_settings
from hooks.config.config import HookConfig
from hooks.config.spec import HookSource
from hooks.runner import HookRunner
from permissions.context import PermissionContext, SandboxState, is_locked
from permissions.explain.explain_decision import place_relative
from permissions.gate import PermissionGate
from permissions.rule import RuleSet, RuleSource

Approve = Callable[[str, Path], Awaitable[bool]]
"""Takes the source and path of a changed file; returns False if a hook refuses the change."""

Notify = Callable[[str, str], None]
"""Takes a line for the user and its level: `info` or `warning`."""


class LiveSettings:
    """Follows the settings files of one conversation."""

    def __init__(
        self,
        settings: Settings,
        *,
        load: Callable[[], Settings],
        gate: PermissionGate,
        runner: HookRunner,
        in_force: Callable[[Settings], None],
        notify: Notify,
        approve: Approve | None = None,
        sandbox: Callable[[Settings], SandboxState] = lambda _settings: SandboxState(),
    ) -> None:
        """Start with `settings`; `in_force` receives new settings when they take effect.

        `sandbox` returns the state of the sandbox under other settings, for decisions.
        """
        self._settings = settings
        self._load = load
        self._gate = gate
        self._runner = runner
        self._in_force = in_force
        self._notify = notify
        self._approve = approve
        self._sandbox = sandbox
        self._stamps = _stamps(settings.watched_files)
        self._problem = ""
        """Why the current files cannot be used; empty if they can."""
        self._refused_settings: Settings | None = None
        """The settings in the files, if a hook refused them."""
        self._one_at_a_time = asyncio.Lock()
        """Held while files are read and applied: concurrent callers wait and then find nothing to
        do, and an older state is never applied after a newer one."""
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to watch the files, unless that has begun."""
        if self._task is None:
            self._task = asyncio.create_task(self._follow(), name="settings watcher")

    async def aclose(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
            self._task = None

    async def reload(self) -> None:
        """Read all files again; changes apply at once, and the caller reports them."""
        async with self._one_at_a_time:
            fresh = await asyncio.to_thread(self._load)
            if fresh != self._settings:
                self.apply(Reloaded(self._settings, fresh, ()))

    async def refresh_settings(self) -> None:
        """Apply changes on disk that the watcher has not noticed yet. Raises nothing.

        The watcher reports once a second; a user's yes must not precede a deny rule on disk.
        """
        async with self._one_at_a_time:
            stamps = _stamps(self._settings.watched_files)
            changed_files = [
                path for path, stamp in stamps.items() if self._stamps.get(path) != stamp
            ]
            if not changed_files:
                return
            try:
                await self._reload_files(changed_files)
            except Exception as error:  # noqa: BLE001 - isolation boundary: what is in force stays
                self._notify(f"Settings could not be reloaded: {error}", "warning")

    async def apply_changes(self, files: Iterable[Path]) -> None:
        """Apply the settings of files that the watcher reports, unless they are applied already."""
        async with self._one_at_a_time:
            await self._reload_files(files)

    async def _reload_files(self, files: Iterable[Path]) -> None:
        """Read all files, and apply changes once unless a hook refuses them."""
        # Taken before reading, so that changes during reading are noticed the next time.
        self._stamps = _stamps(self._settings.watched_files)
        change = await asyncio.to_thread(reload, self._settings, self._load, tuple(files))
        match change:
            case ReloadFailed(_, problem):
                is_known = problem == self._problem
            case Reloaded(_, current, _):
                is_known = current == self._refused_settings or (
                    current == self._settings and not self._problem
                )
        if is_known:
            return
        self._refused_settings = None
        if await self._is_approved(change):
            self.apply(change)
        else:
            self._refused_settings = change.current

    async def _follow(self) -> None:
        try:
            async for change in watch_settings(self._settings, self._load, self._stop):
                await self.apply_changes(change.files)
        except Exception as error:  # noqa: BLE001 - isolation boundary: the conversation continues
            self._notify(f"Settings are no longer watched: {error}", "warning")

    async def _is_approved(self, change: SettingsChange) -> bool:
        """Whether no hook refuses the change; managed settings always apply."""
        if self._approve is None or not isinstance(change, Reloaded):
            return True
        for path in change.files:
            source = self._source_of(path)
            if not await self._approve(source, path) and source != "policy_settings":
                self._notify(f"A hook refused the change of {path}: the settings stay.", "warning")
                return False
        return True

    def _notify_of_rules(self, old_rules: RuleSet) -> None:
        """Warn about new problems of the rules."""
        from permissions.lint.load_notices import rule_notes  # imported with the first change

        rules = self._gate.context.rules
        if rules is old_rules:
            return
        settings = self._settings
        short = place_relative(str(settings.project_root), str(settings.home))
        old_notes = rule_notes(old_rules, short)
        for note in rule_notes(rules, short):
            if note not in old_notes:
                self._notify(note, "warning")

    def _source_of(self, path: Path) -> str:
        """Return the name of the file's source for ConfigChange hooks."""
        settings = self._settings
        if path.name == "settings.local.json":
            return "local_settings"
        if settings.agent_home in path.parents:
            return "user_settings"
        if settings.project_root in path.parents:
            return "project_settings"
        return "user_settings" if settings.home in path.parents else "policy_settings"

    def apply(self, change: SettingsChange) -> None:
        """Apply a change, or report why it cannot be applied."""
        match change:
            case ReloadFailed(_, problem):
                self._problem = problem
                effect = "the previous settings stay in effect"
                self._notify(f"Settings changed but cannot be used, {effect}: {problem}", "warning")
            case Reloaded(_, current, files):
                self._problem = ""
                previous, self._settings = self._settings, current
                rules_before = self._gate.context.rules
                self._in_force(current)
                self._gate.replace_context(
                    replace(
                        refresh_context(self._gate.context, previous, current),
                        sandbox=self._sandbox(current),
                    ),
                    auto_available=is_auto_available(current),
                )
                self._runner.replace_config(_with_registered(current, self._runner.config))
                names = ", ".join(path.name for path in files)
                waiting = len(current.trust.new)
                note = f"; {waiting} of the project wait for trust" if waiting else ""
                if names:
                    self._notify(f"Settings reloaded ({names}){note}.", "info")
                self._notify_of_rules(rules_before)


def refresh_context(
    context: PermissionContext, previous: Settings, settings: Settings
) -> PermissionContext:
    """Return the context with the new settings; grants of the session are kept."""
    own_dirs = [path for path in context.additional_dirs if path not in previous.additional_dirs]
    session = [text for text in context.rules.texts if text.source is RuleSource.SESSION]
    is_bypass_locked = is_locked(settings.policy, "disableBypassPermissionsMode")
    return replace(
        context,
        rules=RuleSet.build((*settings.rules, *session))[0],
        additional_dirs=tuple(dict.fromkeys((*settings.additional_dirs, *own_dirs))),
        is_trusted=settings.trust.is_settled,
        policy=settings.policy,
        protected_files=protected_files(settings),
        written_files=written_files(settings),
        # Bypass mode can be disabled later, but not enabled.
        bypass_available=context.bypass_available and not is_bypass_locked,
        blocked_hosts=frozenset(host.lower() for host in settings.values.blockedHosts or ()),
    )


_REGISTERED = frozenset({HookSource.CODE, HookSource.SKILL, HookSource.AGENT, HookSource.PLUGIN})


def _with_registered(settings: Settings, previous: HookConfig) -> HookConfig:
    """Return the hooks of new settings, plus those registered by code, plugins and skills."""
    specs = [
        spec
        for event_specs in previous.handlers.values()
        for spec in event_specs
        if spec.source in _REGISTERED
    ]
    return hook_config(settings).with_specs(specs)


def _stamps(files: Iterable[Path]) -> dict[Path, tuple[int, ...]]:
    """Return a stamp of the state of each file; () for a file that does not exist."""
    stamps: dict[Path, tuple[int, ...]] = {}
    for path in files:
        try:
            status = path.stat()
        except OSError:
            stamps[path] = ()
        else:
            stamps[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return stamps
