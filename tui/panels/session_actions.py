"""Actions on a session of the list: search all, rename, copy, export, delete."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from agent.commands.command_context import CommandContext
from agent.errors import SessionError
from agent.session.archive.session_index import MARK_END, MARK_START, SearchHit, search_all
from agent.session.archive.summaries import SessionSummary
from agent.session.archive.transcript_export import ExportFormat, export
from agent.session.store import SessionStore
from agent.settings.locations import expand_home
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel
from tui.ports.command_screen import CommandScreen

FIND: Final = "ctrl+f"
RENAME: Final = "ctrl+r"
COPY: Final = "ctrl+b"
EXPORT: Final = "ctrl+e"
REMOVE: Final = "ctrl+x"
HINT: Final = (
    "ctrl+f find · ctrl+r rename · ctrl+e export · ctrl+b copy · ctrl+x delete · esc close"
)
SURE: Final = "remove"
_FORMS: Final[Mapping[str, ExportFormat]] = {".json": "json", ".html": "html", ".htm": "html"}


class SessionActions:
    """Actions of one list; each method returns whether to close the list."""

    def __init__(self, screen: CommandScreen, context: CommandContext, store: SessionStore) -> None:
        """`screen` shows dialogs and notices."""
        self._screen = screen
        self._context = context
        self._store = store
        self._by_key: Mapping[str, Callable[[SessionSummary], Awaitable[bool]]] = {
            RENAME: self._rename,
            COPY: self._copy,
            EXPORT: self._export,
            REMOVE: self._remove,
        }

    @property
    def keys(self) -> frozenset[str]:
        """The keys of actions on the selected session."""
        return frozenset(self._by_key)

    async def run(self, key: str, session: SessionSummary) -> bool:
        """Perform the action of a key; an error is shown as a notice."""
        try:
            return await self._by_key[key](session)
        except (SessionError, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            self._screen.notice(str(reason), "warning")
            return False

    async def find(self) -> bool:
        """Ask for words, search for them in all sessions, and open the chosen result."""
        words = await self._screen.show_dialog(
            LineEntry("Find in all sessions", "Words in a conversation.", "enter find · esc back")
        )
        if words is None:
            return False
        hits = await asyncio.to_thread(self._search, words)
        pick = await self._screen.show_dialog(
            ListPanel(
                f"Found: {words}",
                [_hit_item(hit) for hit in hits],
                hint="enter open · esc back",
                empty="nothing found",
            )
        )
        if pick is None:
            return False
        await self._screen.session.restart(hits[pick.index].session_id)
        return True

    def _search(self, words: str) -> Sequence[SearchHit]:
        cache = self._context.agent_home / "cache"
        return search_all(self._store.list(), words, cache_dir=cache)

    async def _rename(self, session: SessionSummary) -> bool:
        title = await self._ask(
            "Rename", f"A new name for “{session.title[:60]}”.", "enter rename · esc back"
        )
        if title is not None:
            await asyncio.to_thread(self._store.rename, session.id, title)
        return False

    async def _copy(self, session: SessionSummary) -> bool:
        copy = await asyncio.to_thread(self._store.fork, session.id)
        copy.close()
        await self._screen.session.restart(copy.id)
        return True

    async def _export(self, session: SessionSummary) -> bool:
        name = await self._ask(
            "Export",
            "A new file: .md, .json or .html.",
            "enter write · esc back",
        )
        if name is None:
            return False
        target = self._context.session.cwd / expand_home(name, self._context.home)
        form = _FORMS.get(target.suffix.lower(), "markdown")
        text = await asyncio.to_thread(export, session.path, form)
        await asyncio.to_thread(_write_new, target, text)
        self._screen.notice(f"The session is in {self._screen.workspace.display_path(target)}.")
        return False

    async def _remove(self, session: SessionSummary) -> bool:
        answer = await self._ask(
            "Remove",
            f"“{session.title[:60]}” and its snapshots will be deleted. Type {SURE} to confirm.",
            "enter delete · esc back",
        )
        if answer == SURE:
            await asyncio.to_thread(self._store.delete, session.id)
        return False

    async def _ask(self, title: str, question: str, hint: str) -> str | None:
        return await self._screen.show_dialog(LineEntry(title, question, hint))


def _hit_item(hit: SearchHit) -> Item:
    place = hit.snippet.replace(MARK_START, "").replace(MARK_END, "")
    return Item(" ".join(place.split())[:160], f"{hit.title[:40]} · {hit.project_dir}")


def _write_new(target: Path, text: str) -> None:
    with target.open("x", encoding="utf-8") as file:
        file.write(text)
