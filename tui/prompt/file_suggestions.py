"""The user's own command that names the files which `@` offers (`fileSuggestion`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.commands.service import CommandService
    from permissions.base.process.ask_command import CommandFailed


class OwnSuggestions:
    """Asks it about one query at a time, the newest; there may be none in the settings."""

    def __init__(
        self,
        center: Callable[[], CommandService | None],
        start: Callable[[Awaitable[None]], None],
        warn: Callable[[str], None],
    ) -> None:
        """`warn` is told once of a command that does not work."""
        self._center = center
        self._start = start
        self._warn = warn
        self._wanted: str | None = None
        self._found: list[str] = []
        self._is_asking = False
        self._has_failed = False

    def look(self, query: str, on_found: Callable[[], None]) -> list[str] | None:
        """Return what it named last, and ask it about a new query; None without one."""
        center = self._center()
        if center is None or center.context.settings().values.fileSuggestion is None:
            return None
        if query != self._wanted:
            self._wanted = query
            if not self._is_asking:
                self._is_asking = True
                self._start(self._ask(on_found))
        return self._found

    async def _ask(self, on_found: Callable[[], None]) -> None:
        """Ask about the newest query, until it has not changed meanwhile."""
        from agent.files.suggest import suggested_files
        from permissions.base.process.ask_command import CommandFailed  # only where one is set

        asked = None
        try:
            while (query := self._wanted) != asked and query is not None:
                asked = query
                center = self._center()
                own = center.context.settings().values.fileSuggestion if center else None
                if center is None or own is None:
                    return
                root, env = center.context.settings().project_root, center.context.env
                try:
                    self._found = await suggested_files(own.command, query, root=root, env=env)
                except CommandFailed as error:
                    self._found = []
                    self._say_once(error)
                on_found()
        finally:
            self._is_asking = False

    def _say_once(self, error: CommandFailed) -> None:
        if not self._has_failed:
            self._has_failed = True
            self._warn(f"the command that names files for @ {error}")
