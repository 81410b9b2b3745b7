"""Fire FileChanged for watched files: names in matchers, and paths that hooks asked to watch."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

from hooks.config.config import HookConfig
from hooks.events.workspace import FileChanged
from permissions.base.files.file_watch import file_changes

Watch = Callable[[frozenset[Path], asyncio.Event], AsyncIterator[set[tuple[str, str]]]]
"""Yields sets of (`add`, `change` or `unlink`, path) for directories until the event is set."""


def static_names(config: HookConfig) -> frozenset[str]:
    """Return the literal names in FileChanged matchers: the same text, split at `|`."""
    return frozenset(
        name.strip()
        for spec in config.handlers.get("FileChanged", ())
        for name in (spec.matcher or "").split("|")
        if name.strip() not in ("", "*")
    )


class FileWatch:
    """The watch list of one session; `run` reports changes until it is cancelled."""

    def __init__(
        self, on_change: Callable[[FileChanged], Awaitable[object]], *, watch: Watch | None = None
    ) -> None:
        """`on_change` is awaited for every change, one at a time."""
        self._on_change = on_change
        self._watch = watch or watch_directories
        self._static: frozenset[Path] = frozenset()
        self._dynamic: frozenset[Path] = frozenset()
        self._change_event = asyncio.Event()
        self._restart = asyncio.Event()

    @property
    def paths(self) -> frozenset[Path]:
        """Everything that is watched."""
        return self._static | self._dynamic

    def set_static(self, names: Iterable[str], cwd: Path) -> None:
        """Watch these names in the current directory."""
        self._replace(frozenset(cwd / name for name in names), self._dynamic)

    def set_dynamic(self, paths: Iterable[str], cwd: Path) -> None:
        """Replace the list that hooks asked for (`watchPaths`)."""
        self._replace(self._static, frozenset(cwd / path for path in paths))

    async def run(self) -> None:
        """Watch until cancelled; while the list is empty, no watch is open."""
        while True:
            while not self.paths:
                self._change_event.clear()
                await self._change_event.wait()
            self._restart = asyncio.Event()
            parents = {path.parent for path in self.paths}
            directories = frozenset(filter(os.path.isdir, parents))
            if not directories:
                self._change_event.clear()
                await self._change_event.wait()
                continue
            async for changes in self._watch(directories, self._restart):
                for kind, text in sorted(changes):
                    if Path(text) in self.paths:
                        await self._on_change(FileChanged(file_path=text, event=kind))

    def _replace(self, static: frozenset[Path], dynamic: frozenset[Path]) -> None:
        if (static, dynamic) == (self._static, self._dynamic):
            return
        self._static, self._dynamic = static, dynamic
        self._change_event.set()
        self._restart.set()


async def watch_directories(
    directories: frozenset[Path], stop: asyncio.Event
) -> AsyncIterator[set[tuple[str, str]]]:
    """Yield changes directly in some directories until `stop` is set."""
    names = {"added": "add", "modified": "change", "deleted": "unlink"}
    async for changes in file_changes(
        *directories, stop=stop, recursive=False, collect_ms=20, watch_filter=None
    ):
        # None means changes of unknown files, which cannot be reported.
        yield {(names[kind], path) for kind, path in changes or ()}
