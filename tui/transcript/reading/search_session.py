"""Goes through the whole transcript, also through what is still in its file: hits, prompts, start.

What is loaded is looked through at once, a portion at a time; the pages before it are read
meanwhile (`tui.transcript.earlier_pages`). A wish that needs them is granted once they are there,
unless another key is pressed first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from tui.transcript.reading.search_blocks import TranscriptSearch
from tui.transcript.viewport import RowPosition
from tui.transcript.widget import TranscriptWidget


class OlderPages(Protocol):
    """What lies before the transcript."""

    @property
    def has_more(self) -> bool: ...
    async def older(self) -> bool: ...


class SearchSession:
    """One search at a time, and one wish."""

    def __init__(
        self,
        transcript: TranscriptWidget,
        past: OlderPages,
        start_worker: Callable[[Awaitable[None]], None],
        on_change: Callable[[], None],
    ) -> None:
        """`on_change` hears when something was found, or came to its end, without a key."""
        self._transcript = transcript
        self._past = past
        self._start_worker = start_worker
        self._on_change = on_change
        self._search = TranscriptSearch("")
        self._added_before = 0
        self._wish: Callable[[], bool] | None = None
        """Says whether it could be granted with what is there."""
        self._needs_all = False
        self._is_working = False
        self.here: RowPosition | None = None
        """The hit that was gone to last."""
        self._number = 0

    @property
    def needle(self) -> str:
        """What is searched, as it is compared; empty for nothing."""
        return self._search.needle

    @property
    def found(self) -> str:
        """How many hits there are, and which of them is shown; empty where nothing is searched."""
        if not self.needle:
            return "reading …" if self._wish is not None else ""
        count = self._search.count
        more = "" if self._is_complete else " …"
        if not count:
            return "searching …" if more else "nothing found"
        number = f"{self._number}/" if self._number else ""
        return f"{number}{count:,}{'+' if more else ''} hit{'' if count == 1 else 's'}{more}"

    def find(self, query: str) -> None:
        """Search for something else, and go to its newest hit: most look for what just went by."""
        self._follow()
        entries = self._transcript.viewport.entries
        self._search = TranscriptSearch(query, len(entries), self._search)
        self.here = None
        self._number = 0
        self._transcript.set_search(self.needle)
        self._wish = None
        if self.needle:
            self._search.look(entries)
            self.go(-1)

    def go(self, step: int) -> None:
        """Go to the next hit below (1) or above (-1); past the last one, from the other end on."""
        if self.needle:
            self._wish_for(lambda: self._try_to_go(step), needs_all=False)

    def to_prompt(self, direction: int) -> None:
        """Go to the user's message before (-1) or after (1) what is shown."""
        if direction > 0:
            self._transcript.to_prompt(direction)
            return
        self._wish_for(
            lambda: self._transcript.to_prompt(direction) or not self._past.has_more,
            needs_all=False,
        )

    def to_start(self) -> None:
        """Go to the very first row."""
        self._transcript.to_start()
        self.with_all(self._transcript.to_start)

    def with_all(self, work: Callable[[], None]) -> None:
        """Do something once the whole transcript is there."""

        def grant() -> bool:
            if self._past.has_more:
                return False
            work()
            return True

        self._wish_for(grant, needs_all=True)

    def give_up(self) -> None:
        """Forget a wish that was not granted yet: another key was pressed."""
        self._wish = None

    # Hits

    def _try_to_go(self, step: int) -> bool:
        viewport = self._transcript.viewport
        end = RowPosition(len(viewport.entries), 0)
        search = self._search.next if step > 0 else self._search.previous
        place = search(viewport, self.here or (RowPosition(-1, 0) if step > 0 else end))
        if place is None and not self._is_complete:
            return False
        place = place or search(viewport, RowPosition(-1, 0) if step > 0 else end)
        if place is not None:
            self.here = place
            self._number = self._search.number(viewport, place)
            self._transcript.to_hit(place)
        return True

    @property
    def _is_complete(self) -> bool:
        count = len(self._transcript.viewport.entries)
        return self._search.is_complete(count) and not (self.needle and self._past.has_more)

    def _follow(self) -> None:
        """Earlier blocks came in above: every place has moved."""
        moved = self._transcript.added_before - self._added_before
        self._added_before += moved
        if moved:
            self._search.moved(moved)
            if self.here is not None:
                self.here = RowPosition(self.here.block + moved, self.here.line)

    # Wishes

    def _wish_for(self, grant: Callable[[], bool], *, needs_all: bool) -> None:
        self._follow()
        if grant():
            self._wish = None
        else:
            self._wish, self._needs_all = grant, needs_all
        if not self._is_working and (self._wish is not None or not self._is_complete):
            self._is_working = True
            self._start_worker(self._work())

    async def _work(self) -> None:
        """Look and read on until nothing is left to look through, and no wish is open."""
        try:
            while True:
                # Between two portions keys are heard and frames are drawn.
                await asyncio.sleep(0)
                self._follow()
                entries = self._transcript.viewport.entries
                if not self._search.is_complete(len(entries)):
                    self._search.look(entries)
                elif (self.needle or self._wish is not None) and self._past.has_more:
                    if not await self._past.older():
                        break
                    self._follow()
                else:
                    break
                if self._wish is not None and not self._needs_all and self._wish():
                    self._wish = None
                self._on_change()
        finally:
            self._is_working = False
        wish, self._wish = self._wish, None
        if wish is not None:
            wish()
        self._on_change()
