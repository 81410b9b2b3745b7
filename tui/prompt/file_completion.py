"""File names for `@`: the search runs in small steps, one per frame, so that typing never waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from agent.commands.service import CommandService

    # For annotations only: it starts a search program and a file watcher with the first `@`.
    from agent.files.file_index import FileIndex
    from agent.files.matcher import Search
    from permissions.base.process.ask_command import CommandFailed

LIMIT: Final = 30


class FilesBelow:
    """The conversation's file index, or before it exists an own index of the directory."""

    def __init__(
        self,
        command_service: Callable[[], CommandService | None],
        directory: Callable[[], Path],
        env: Mapping[str, str],
    ) -> None:
        """`env` is the environment of the search program."""
        self._command_service = command_service
        self._directory = directory
        self._env = env
        self._own: FileIndex | None = None

    def __call__(self) -> FileIndex:
        """Return the current index."""
        command_service = self._command_service()
        if command_service is not None:
            return command_service.files
        if self._own is None:
            # Imported with the first `@`.
            from agent.files.file_index import FileIndex
            from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined

            directory = self._directory()
            programs = ReadingPrograms(self._env, directory, launch_unconfined)
            self._own = FileIndex(directory, programs)
        return self._own


class FileCompletion:
    """Searches for one query at a time; a new query ends the previous search."""

    def __init__(
        self,
        index: Callable[[], FileIndex],
        start: Callable[[Awaitable[None]], None],
        next_frame: Callable[[Callable[[], None]], object],
        on_found: Callable[[], None],
        own: SuggestionCommand | None = None,
        resources: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """`on_found` is called when there are more matches than the last `complete` returned.

        If the user has a `fileSuggestion` command, `own` runs it instead of searching the index.
        `resources` returns those of servers, as `server:uri`, which are listed before files.
        """
        self._resources = resources
        self._own = own
        self._index = index
        self._start = start
        self._next_frame = next_frame
        self._on_found = on_found
        self._search: Search | None = None
        self._current_index: FileIndex | None = None

    def complete(self, query: str) -> list[str]:
        """Return the matches found so far for a query; takes at most a few milliseconds."""
        if (
            self._own is not None
            and (names := self._own.complete(query, self._on_found)) is not None
        ):
            return names
        index = self._index()
        if index is not self._current_index:
            # The first `@` of the session, or of another conversation.
            self._current_index = index
            self._search = None
            self._start(self._begin(index))
        if self._search is None or self._search.query != query:
            self._search = index.search(query, limit=LIMIT)
            if self._search is not None and not self._search.step():
                self._continue_later()
        names = _fitting(self._resources(), query)
        return [*names, *(self._search.matches if self._search is not None else ())]

    async def aclose(self) -> None:
        """Close the index."""
        if self._current_index is not None:
            await self._current_index.aclose()

    async def _begin(self, index: FileIndex) -> None:
        await index.ready()
        index.watch(self._on_files)
        self._on_files()

    def _on_files(self) -> None:
        self._search = None
        self._on_found()

    def _continue_later(self) -> None:
        search = self._search

        def continue_search() -> None:
            # Another query has replaced this search.
            if search is None or search is not self._search:
                return
            old_count = len(search.matches)
            is_done = search.step()
            if len(search.matches) != old_count:
                self._on_found()
            if not is_done:
                self._next_frame(continue_search)

        self._next_frame(continue_search)


def _fitting(names: Sequence[str], query: str) -> list[str]:
    """Return the names that contain the letters of a query in order; [] for an empty query."""
    if not query:
        return []

    def fits(name: str) -> bool:
        letters = iter(name.lower())
        return all(letter in letters for letter in query.lower())

    return [name for name in names if fits(name)][:LIMIT]


def resource_names(commands: CommandService | None) -> Sequence[str]:
    """Return the resources of connected servers, as `server:uri`."""
    live = commands.context.servers() if commands is not None else None
    return live.resource_names() if live is not None else ()


class SuggestionCommand:
    """Runs the user's `fileSuggestion` command for file names, one query at a time."""

    def __init__(
        self,
        command_service: Callable[[], CommandService | None],
        start: Callable[[Awaitable[None]], None],
        warn: Callable[[str], None],
    ) -> None:
        """`warn` is called once if the command fails."""
        self._command_service = command_service
        self._start = start
        self._warn = warn
        self._query: str | None = None
        self._names: list[str] = []
        self._is_asking = False
        self._has_failed = False

    def complete(self, query: str, on_found: Callable[[], None]) -> list[str] | None:
        """Return the last names, and run the command for a new query; None without a command."""
        command_service = self._command_service()
        if (
            command_service is None
            or command_service.context.settings().values.fileSuggestion is None
        ):
            return None
        if query != self._query:
            self._query = query
            if not self._is_asking:
                self._is_asking = True
                self._start(self._ask(on_found))
        return self._names

    async def _ask(self, on_found: Callable[[], None]) -> None:
        """Run the command for the current query, again if it changes during the run."""
        from agent.files.suggest import suggested_files
        from permissions.base.process.ask_command import CommandFailed  # only if one is set

        last_query = None
        try:
            while (query := self._query) != last_query and query is not None:
                last_query = query
                command_service = self._command_service()
                own = (
                    command_service.context.settings().values.fileSuggestion
                    if command_service
                    else None
                )
                if command_service is None or own is None:
                    return
                root, env = (
                    command_service.context.settings().project_root,
                    command_service.context.env,
                )
                try:
                    self._names = await suggested_files(own.command, query, root=root, env=env)
                except CommandFailed as error:
                    self._names = []
                    self._warn_once(error)
                on_found()
        finally:
            self._is_asking = False

    def _warn_once(self, error: CommandFailed) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._warn(f"the command in fileSuggestion {error}")
