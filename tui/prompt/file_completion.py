"""The files that `@` offers: searched a little per frame, so that typing never waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.prompt.file_suggestions import OwnSuggestions

if TYPE_CHECKING:
    # Costs a search program and a file watcher: not before the first `@`.
    from agent.commands.service import CommandService
    from agent.files.index import FileIndex
    from agent.files.matcher import Search

LIMIT: Final = 30


class FilesBelow:
    """The conversation's index of files; before there is one, an index of the folder itself."""

    def __init__(
        self,
        center: Callable[[], CommandService | None],
        folder: Callable[[], Path],
        env: Mapping[str, str],
    ) -> None:
        """Take the folder that is worked in, and the environment of the search program."""
        self._center = center
        self._folder = folder
        self._env = env
        self._own: FileIndex | None = None

    def __call__(self) -> FileIndex:
        """Return the index that counts now."""
        center = self._center()
        if center is not None:
            return center.files
        if self._own is None:
            from agent.files.index import FileIndex  # with the first `@`

            self._own = FileIndex(self._folder(), self._env)
        return self._own


class FileCompletion:
    """One query at a time; a new one drops the search for the old one."""

    def __init__(
        self,
        index: Callable[[], FileIndex],
        start: Callable[[Awaitable[None]], None],
        next_frame: Callable[[Callable[[], None]], object],
        on_found: Callable[[], None],
        own: OwnSuggestions | None = None,
    ) -> None:
        """`on_found` is told when there is more to offer than the last `look` returned.

        Where the user has a command of their `own`, it is asked in the place of the index.
        """
        self._own = own
        self._index = index
        self._start = start
        self._next_frame = next_frame
        self._on_found = on_found
        self._search: Search | None = None
        self._known: FileIndex | None = None

    def look(self, query: str) -> list[str]:
        """Return what is known for a query by now; at most a few milliseconds' work."""
        if self._own is not None and (named := self._own.look(query, self._on_found)) is not None:
            return named
        index = self._index()
        if index is not self._known:
            # The first `@`, or the first in another conversation.
            self._known = index
            self._search = None
            self._start(self._begin(index))
        if self._search is None or self._search.query != query:
            self._search = index.search(query, limit=LIMIT)
            if self._search is not None and not self._search.step():
                self._go_on_later()
        return self._search.found if self._search is not None else []

    async def aclose(self) -> None:
        """Let go of the files."""
        if self._known is not None:
            await self._known.aclose()

    async def _begin(self, index: FileIndex) -> None:
        await index.ready()
        index.watch(self._on_files)
        self._on_files()

    def _on_files(self) -> None:
        self._search = None
        self._on_found()

    def _go_on_later(self) -> None:
        search = self._search

        def go_on() -> None:
            # Another query came, and this search is nobody's any more.
            if search is None or search is not self._search:
                return
            before = len(search.found)
            is_done = search.step()
            if len(search.found) != before:
                self._on_found()
            if not is_done:
                self._next_frame(go_on)

        self._next_frame(go_on)
