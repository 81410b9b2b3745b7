"""The list of the project's files for the `@` picker: read on first use, then updated.

The list comes from ripgrep, which applies ignore files without running git, so that an untrusted
repository cannot run programs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Final

from agent.files.matcher import NameList, Search
from agent.tools.base import ToolError
from agent.tools.search.rg import file_selection, search
from permissions.base.files.file_watch import file_changes
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.text.late_pattern import compile_late

MAX_FILES: Final = 1_000_000
COLLECT_MS: Final = 400
"""Delay between a change and the next reading of the list."""
_SKIPPED: Final = frozenset({".git", ".hg", ".mypy_cache", ".venv", "__pycache__", "node_modules"})
"""Directories that are not watched: they hold many files, unlisted or seldom wanted."""
_PASSING: Final = compile_late(r"~$|\.sw.$|\.py[co]$|/\.#[^/]*$")
"""Temporary files of editors, and compiled Python modules."""


class FileIndex:
    """Files and folders below one folder, relative, folders with a slash at the end."""

    def __init__(
        self, root: Path, programs: ReadingPrograms, *, respect_ignore_files: bool = True
    ) -> None:
        """Nothing is read before `ready` or `watch`."""
        self.root = root
        self._programs = programs
        self._respects_ignore_files = respect_ignore_files
        self._names: NameList | None = None
        self._loading: asyncio.Task[NameList] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    @property
    def names(self) -> NameList | None:
        """The list as last read; None before that."""
        return self._names

    async def ready(self) -> NameList:
        """Return the list, reading it the first time. An unreadable folder gives an empty one."""
        if self._names is not None:
            return self._names
        if self._loading is None or self._loading.done():
            self._loading = asyncio.ensure_future(self._load())
        return await asyncio.shield(self._loading)

    def search(self, query: str, *, limit: int = 50) -> Search | None:
        """Begin a search in the list; None while there is no list yet."""
        return Search(self._names, query, limit=limit) if self._names is not None else None

    def watch(self, on_change: Callable[[], None] = lambda: None) -> None:
        """Keep the list up to date from now on; `on_change` is called after each new list."""
        if self._watching is None:
            self._watching = asyncio.ensure_future(self._watch(on_change))

    async def aclose(self) -> None:
        """Stop watching; safe to call twice."""
        self._stop.set()
        for task in (self._watching, self._loading):
            if task is not None:
                task.cancel()
                await asyncio.wait({task})
        self._watching = self._loading = None

    async def _load(self) -> NameList:
        paths = await self._list()
        self._names = await asyncio.to_thread(_with_directories, paths)
        return self._names

    async def _list(self) -> list[str]:
        # Users do not mean compiled modules, even where git does not ignore them.
        options = ["--files", "--null", "--no-messages", "--glob=!__pycache__", *file_selection()]
        if not self._respects_ignore_files:
            options.append("--no-ignore")
        try:
            result = await search([*options, "."], directory=self.root, programs=self._programs)
        except ToolError:
            return []
        names = (os.fsdecode(name) for name in result.data.split(b"\0") if name)
        return [name.removeprefix("./") for name in islice(names, MAX_FILES)]

    async def _watch(self, on_change: Callable[[], None]) -> None:
        await self.ready()
        with contextlib.suppress(OSError):
            async for _ in file_changes(
                self.root,
                watch_filter=_is_of_the_list,
                stop=self._stop,
                collect_ms=COLLECT_MS,
                recursive=True,
                excluded_names=_SKIPPED,
            ):
                await self._load()
                on_change()


def _is_of_the_list(change: str, path: str) -> bool:
    return change != "modified" and _PASSING.search(path) is None


def _with_directories(paths: Iterable[str]) -> NameList:
    names: dict[str, None] = {}
    for path in paths:
        names[path] = None
        position = path.rfind("/")
        while position > 0:
            directory = path[: position + 1]
            if directory in names:
                break
            names[directory] = None
            position = path.rfind("/", 0, position)
    return NameList(names)
