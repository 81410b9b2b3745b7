"""The command files of a conversation: found in the background, found again when they change."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Final

from agent.commands.command_file import Problem
from agent.commands.discover import CommandFinder, CommandPlaces, Found, watched_folders
from agent.commands.spec import Command
from hooks.file_changes import file_changes

QUIET_MS: Final = 300

Approve = Callable[[Path], Awaitable[bool]]
"""Takes a changed file; False where a hook refuses the change."""


class CustomCommands:
    """What the folders held when they were last read."""

    def __init__(self, finder: CommandFinder, places: CommandPlaces) -> None:
        """Nothing is read before `refresh`."""
        self._finder = finder
        self._places = places
        self._found = Found()
        self._watching: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self.listeners: list[Callable[[], None]] = []
        """Called after each refresh that changed something."""
        self.approve: Approve | None = None
        """Asked about each file that changed while the folders are watched."""

    def commands(self) -> tuple[Command, ...]:
        """Return the commands in order of priority."""
        return self._found.commands

    @property
    def waiting(self) -> tuple[str, ...]:
        """Names from the project that wait for trust."""
        return self._found.waiting

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with files, for people."""
        return self._found.problems

    async def refresh(self) -> None:
        """Read the folders now."""
        before = self._found
        self._found = await asyncio.to_thread(self._finder.find)
        if _summary(before) != _summary(self._found):
            for listener in tuple(self.listeners):
                listener()

    def watch(self) -> None:
        """Read the folders again whenever they change, until `aclose`."""
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch())

    async def aclose(self) -> None:
        """Stop watching; safe to call twice."""
        self._stop.set()
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.wait({self._watching})
            self._watching = None

    async def _watch(self) -> None:
        while not self._stop.is_set():
            roots = self._roots()
            if not roots:
                return
            with contextlib.suppress(OSError):
                async for events in file_changes(
                    *roots,
                    watch_filter=self._concerns,
                    debounce_ms=QUIET_MS,
                    step_ms=QUIET_MS,
                    recursive=True,
                    stop=self._stop,
                ):
                    if events is None or (events and await self._is_approved(events)):
                        await self.refresh()
                    if self._roots() != roots:
                        break

    async def _is_approved(self, events: Iterable[tuple[object, str]]) -> bool:
        if self.approve is None:
            return True
        files = sorted({Path(path) for _, path in events if path.endswith(".md")})
        return all([await self.approve(file) for file in files])

    def _roots(self) -> tuple[Path, ...]:
        """Return the folders to watch: each one, or where it is missing, its parent alone."""
        found: dict[Path, None] = {}
        for folder in watched_folders(self._places):
            if folder.is_dir():
                found[folder] = None
        return tuple(found)

    def _concerns(self, _change: object, path: str) -> bool:
        return path.endswith(".md") or "." not in Path(path).name


def _summary(found: Found) -> tuple[object, ...]:
    metas = tuple((c.meta, c.for_model) for c in found.commands)
    return metas, found.waiting, found.problems
