"""Reload settings when their files change; on an error, the last valid settings stay in force."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.errors import ConfigError
from agent.settings.file import UNTIL_REPAIRED
from agent.settings.load import Settings
from permissions.base.files.file_watch import file_changes

COLLECT_MS: Final = 1_000
"""How long changes are collected: editors and installers write several files, each in parts."""
_DIRECTORY_NAMES: Final = frozenset({".agent", ".claude", "managed-settings.d", "agent-tui"})


class Reloaded(Struct, frozen=True):
    """The settings have changed; `current` is in force from now on."""

    previous: Settings
    current: Settings
    files: tuple[Path, ...]
    """Files that changed."""


class ReloadFailed(Struct, frozen=True):
    """A changed file cannot be used; the earlier settings stay in force."""

    current: Settings
    problem: str
    """File, line and expected value, as text for users."""
    files: tuple[Path, ...]


SettingsChange = Reloaded | ReloadFailed


def reload(
    current: Settings, load: Callable[[], Settings], files: Iterable[Path]
) -> SettingsChange:
    """Load again; if a file became unreadable or broken, keep the last valid settings."""
    changed_files = tuple(files)
    try:
        fresh = load()
    except ConfigError as error:
        return ReloadFailed(current, str(error), changed_files)
    newly_broken = set(fresh.broken_files) - set(current.broken_files)
    if newly_broken:
        problem = next(str(w) for w in fresh.warnings if w.file in newly_broken)
        return ReloadFailed(current, problem.removesuffix(UNTIL_REPAIRED), changed_files)
    return Reloaded(current, fresh, changed_files)


async def watch_settings(
    current: Settings,
    load: Callable[[], Settings],
    stop: asyncio.Event,
    *,
    collect_ms: int = COLLECT_MS,
) -> AsyncGenerator[SettingsChange, None]:
    """Yield each change of the settings' files until `stop` is set. Raises nothing itself."""
    while not stop.is_set():
        directories = _directories(current.watched_files)
        watch_filter = _Filter(frozenset(str(path) for path in current.watched_files))
        async for events in file_changes(
            *directories,
            watch_filter=watch_filter,
            collect_ms=collect_ms,
            recursive=False,
            stop=stop,
        ):
            changed_files = watch_filter.changed_files(events)
            if changed_files:
                change = reload(current, load, changed_files)
                is_same = isinstance(change, Reloaded) and change.current == current
                current = change.current
                if events is not None or not is_same:
                    yield change
            if _directories(current.watched_files) != directories:
                break  # a settings directory was created or removed


def _directories(files: Iterable[Path]) -> tuple[Path, ...]:
    """Return the directories to watch: those of the files and their parents, if they exist."""
    directories: dict[Path, None] = {}
    for path in files:
        directory = path.parent
        if os.path.isdir(directory):
            directories[directory] = None
        if os.path.isdir(directory.parent):
            directories[directory.parent] = None
    return tuple(directories)


class _Filter(Struct, frozen=True):
    names: frozenset[str]

    def changed_files(self, events: Iterable[tuple[object, str]] | None) -> tuple[Path, ...]:
        """Return the files among the events; all files if it is unknown what changed."""
        names = self.names if events is None else {path for _, path in events}
        return tuple(sorted(Path(path) for path in names & self.names))

    def __call__(self, _change: object, path: str) -> bool:
        return path in self.names or Path(path).name in _DIRECTORY_NAMES
