"""The command files of a conversation: read in the background, and again after changes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from agent.commands.sources.command_file import FileProblem
from agent.commands.sources.directories import (
    CommandLocations,
    linked_directories,
    watched_directories,
)
from agent.commands.sources.discover import CommandFinder, DiscoveredCommands
from agent.commands.spec import Command
from permissions.base.files.directory_trees import walk
from permissions.base.files.file_watch import file_changes

COLLECT_MS: Final = 300
BEGIN_S: Final = 1.0
"""Time after which a watch is active; one scan finds changes before that."""
CLOCK_NS: Final = 20_000_000
"""How far the timestamp of a file may lag behind the clock."""

Approve = Callable[[Path], Awaitable[bool]]
"""Takes a changed file; returns False if a hook refuses the change."""


class CustomCommands:
    """The commands in the directories when they were last read."""

    def __init__(
        self, finder: CommandFinder, places: CommandLocations, *, approve: Approve | None = None
    ) -> None:
        """Read nothing before `refresh`; `approve` decides about each file that changes while the
        directories are watched."""
        self._finder = finder
        self._places = places
        self._commands = DiscoveredCommands()
        self._watching: asyncio.Task[None] | None = None
        self._cache_write: asyncio.Future[None] | None = None
        self._stop = asyncio.Event()
        self._read_ns = 0
        self.listeners: list[Callable[[], None]] = []
        """Called after each refresh that changed something."""
        self._approve = approve

    def commands(self) -> tuple[Command, ...]:
        """Return the commands in order of priority."""
        return self._commands.commands

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names of project commands that wait for trust."""
        return self._commands.waiting

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """What is wrong with files, for users."""
        return self._commands.problems

    async def refresh(self, *, in_thread: bool = True) -> None:
        """Read the directories now.

        Without a screen to keep responsive it is faster without a thread, because the threads would
        alternate on the interpreter with each of up to a thousand files.
        """
        previous = self._commands
        self._read_ns = time.time_ns()
        find = self._finder.find
        self._commands = await asyncio.to_thread(find) if in_thread else find()
        if self._cache_write is None or self._cache_write.done():
            # For the next start; nothing in this one waits for it.
            self._cache_write = asyncio.ensure_future(asyncio.to_thread(self._finder.write_cache))
        if _summary(previous) != _summary(self._commands):
            for listener in tuple(self.listeners):
                listener()

    def watch(self) -> None:
        """Read the directories again whenever they change, until `aclose`."""
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch())

    async def aclose(self) -> None:
        """Stop watching; safe to call twice."""
        self._stop.set()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None
        if self._cache_write is not None:
            await asyncio.wait({self._cache_write})

    async def _watch(self) -> None:
        while not self._stop.is_set():
            roots, parents = self._roots(), self._parents()
            # A new event each time, because a cancelled watch sets the event that it was given.
            stop = asyncio.Event()
            parts = [asyncio.ensure_future(self._follow(roots, stop))] if roots else []
            if parents:
                parts.append(
                    asyncio.ensure_future(self._wait_for_directories(parents, roots, stop))
                )
            if not parts:
                return
            try:
                await self._wait_for_any(parts, roots, parents)
            finally:
                for part in parts:
                    part.cancel()
                await asyncio.gather(*parts, return_exceptions=True)
            if (self._roots(), self._parents()) == (roots, parents):
                # They cannot be watched: changes apply at the next start.
                return
            new = set(self._roots()) - set(roots)
            if new and await self._are_approved(await asyncio.to_thread(_files_below, new)):
                await self.refresh()

    async def _wait_for_any(
        self,
        parts: Sequence[asyncio.Future[None]],
        roots: tuple[Path, ...],
        parents: tuple[Path, ...],
    ) -> None:
        """Wait for the first watch that ends; also find changes from before the watches began."""
        first = asyncio.FIRST_COMPLETED
        ended_watches, _ = await asyncio.wait(parts, timeout=BEGIN_S, return_when=first)
        if not ended_watches and (self._roots(), self._parents()) == (roots, parents):
            since_ns = self._read_ns - CLOCK_NS
            changed_files = await asyncio.to_thread(_files_below, roots, since_ns)
            if changed_files and await self._are_approved(changed_files):
                await self.refresh()
            await asyncio.wait(parts, return_when=first)

    async def _follow(self, roots: tuple[Path, ...], stop: asyncio.Event) -> None:
        """Read again whenever a file changes; return when the directories to watch change."""
        with contextlib.suppress(OSError):
            async for events in file_changes(
                *roots,
                watch_filter=self._is_relevant,
                collect_ms=COLLECT_MS,
                recursive=True,
                stop=stop,
            ):
                if events is None or (events and await self._is_approved(events)):
                    await self.refresh()
                if self._roots() != roots:
                    return

    async def _wait_for_directories(
        self, parents: tuple[Path, ...], roots: tuple[Path, ...], stop: asyncio.Event
    ) -> None:
        """Return when one of the missing directories was created."""
        directories = watched_directories(self._places)
        names = {
            part for directory in directories for part in (directory.name, directory.parent.name)
        }
        with contextlib.suppress(OSError):
            async for _ in file_changes(
                *parents,
                watch_filter=lambda _change, path: Path(path).name in names,
                collect_ms=COLLECT_MS,
                recursive=False,
                stop=stop,
            ):
                if (self._roots(), self._parents()) != (roots, parents):
                    return

    async def _is_approved(self, events: Iterable[tuple[object, str]]) -> bool:
        if self._approve is None:
            return True
        return await self._are_approved(Path(path) for _, path in events if path.endswith(".md"))

    async def _are_approved(self, files: Iterable[Path]) -> bool:
        if self._approve is None:
            return True
        return all([await self._approve(file) for file in sorted(set(files))])

    def _roots(self) -> tuple[Path, ...]:
        """Return the existing directories, which are watched recursively."""
        own = [
            directory for directory in watched_directories(self._places) if os.path.isdir(directory)
        ]
        return tuple(dict.fromkeys([*own, *linked_directories(self._places)]))

    def _parents(self) -> tuple[Path, ...]:
        """Return the parents of missing directories, which are watched without their contents."""
        missing = [
            directory
            for directory in watched_directories(self._places)
            if not os.path.isdir(directory)
        ]
        return tuple(
            dict.fromkeys(
                p for directory in missing if (p := _existing_parent(directory)) is not None
            )
        )

    def _is_relevant(self, _change: object, path: str) -> bool:
        return path.endswith(".md") or "." not in Path(path).name


def _existing_parent(directory: Path) -> Path | None:
    """Return the nearest existing parent, at most two levels up: `.agent` or its parent."""
    return next((p for p in (directory.parent, directory.parent.parent) if os.path.isdir(p)), None)


def _files_below(directories: Iterable[Path], since_ns: int = 0) -> list[Path]:
    """Return the command files whose content or name changed since `since_ns` (Unix time)."""
    files = [
        Path(where, name)
        for directory in directories
        for where, _, names in walk(directory)
        for name in names
    ]
    return [path for path in files if path.suffix == ".md" and _changed_ns(path) >= since_ns]


def _changed_ns(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_ctime_ns
    return 0


def _summary(commands: DiscoveredCommands) -> tuple[object, ...]:
    metas = tuple((c.meta, c.for_model) for c in commands.commands)
    return metas, commands.waiting, commands.problems
