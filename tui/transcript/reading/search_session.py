"""Searches the whole transcript, including pages that are not loaded from its file yet.

The text of blocks is searched from the newest back, one portion at a time, so that keys are not
delayed in long conversations; rows are made only for visible blocks. Pages before the loaded blocks
are read during the search (`tui.transcript.earlier_pages`). A jump that needs them is performed
once they are loaded, unless another key is pressed first.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Final, Protocol, assert_never

from agent.display import DiffDisplay, PlanDisplay
from tui.transcript.blocks import (
    AssistantText,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    HookLine,
    NoticeLine,
    ThinkingText,
    ToolCard,
    UserMessage,
)
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.transcript_widget import TranscriptWidget
from tui.transcript.viewport import RowPosition, Viewport, ViewportEntry

PORTION_CHARS: Final = 300_000
"""Size of the text that one step searches, which takes some milliseconds."""


class TranscriptSearch:
    """One case-insensitive query over one transcript.

    Blocks are numbered from the one that was the first at the start, so that blocks added at the
    front do not change the numbers.
    """

    def __init__(self, query: str, end: int = 0, narrows: TranscriptSearch | None = None) -> None:
        """Start at block `end`, going back; an empty query finds nothing.

        A query that contains that of `narrows` searches only blocks with its hits, as far as that
        search has come.
        """
        self.needle = query.casefold()
        self.count = 0
        """Number of occurrences in the texts searched so far."""
        self._above = 0
        self._hits: list[int] = []
        self._sizes: list[int] = []
        self._low = self._high = end
        self._repeat_blocks: list[int] = []
        if narrows is not None and narrows.needle and narrows.needle in self.needle:
            self._low, self._high, self._above = narrows._low, narrows._high, narrows._above
            self._repeat_blocks = [*narrows._repeat_blocks, *narrows._hits]

    def shift(self, count: int) -> None:
        """Note that `count` blocks were added at the front."""
        self._above += count

    def is_complete(self, count: int) -> bool:
        """Whether all of `count` blocks were searched."""
        if not self.needle:
            return True
        return (
            not self._repeat_blocks
            and self._low + self._above <= 0
            and self._high + self._above >= count
        )

    def search_portion(
        self, entries: Sequence[ViewportEntry], limit_chars: int = PORTION_CHARS
    ) -> None:
        """Search about `limit_chars` more characters, newest blocks first; at least one block."""
        remaining_chars = limit_chars
        older: list[tuple[int, int]] = []
        while remaining_chars > 0 and not self.is_complete(len(entries)):
            block = self._next_block(len(entries))
            index = block + self._above
            text = block_text(entries[index].block) if 0 <= index < len(entries) else ""
            remaining_chars -= len(text) + 100
            count = text.count(self.needle)
            if not count:
                continue
            self.count += count
            if self._hits and block > self._hits[-1]:
                self._hits.append(block)
                self._sizes.append(count)
            else:
                older.append((block, count))
        older.sort()
        self._hits[0:0] = [block for block, _ in older]
        self._sizes[0:0] = [count for _, count in older]

    def _next_block(self, count: int) -> int:
        if self._high + self._above < count:
            self._high += 1
            return self._high - 1
        if self._repeat_blocks:
            return self._repeat_blocks.pop()
        self._low -= 1
        return self._low

    def next(self, viewport: Viewport, place: RowPosition) -> RowPosition | None:
        """Return the first hit below a row; None without any."""
        for block in self._hits[bisect_left(self._hits, place.block - self._above) :]:
            for line in self._lines(viewport, block + self._above, 1):
                if (block + self._above, line) > (place.block, place.line):
                    return RowPosition(block + self._above, line)
        return None

    def previous(self, viewport: Viewport, place: RowPosition) -> RowPosition | None:
        """Return the last hit above a row; None without any."""
        for block in reversed(self._hits[: bisect_right(self._hits, place.block - self._above)]):
            for line in self._lines(viewport, block + self._above, -1):
                if (block + self._above, line) < (place.block, place.line):
                    return RowPosition(block + self._above, line)
        return None

    def number(self, viewport: Viewport, place: RowPosition) -> int:
        """Return the number of a row's hit: 1 is the newest, `count` the oldest."""
        index = bisect_left(self._hits, place.block - self._above)
        newer = sum(self._sizes[index + 1 :])
        count_below = sum(
            viewport.row(RowPosition(place.block, line)).text.casefold().count(self.needle)
            for line in range(place.line + 1, viewport.height_of(place.block))
        )
        # Rows may contain more than the searched text, and wrapping may split a hit.
        return newer + min(count_below + 1, self._sizes[index] if index < len(self._sizes) else 1)

    def _lines(self, viewport: Viewport, index: int, step: int) -> Iterator[int]:
        """Yield the rows of a block with a hit, or its first row if wrapping splits every hit."""
        if not 0 <= index < len(viewport.entries):
            return
        has_hit = False
        for line in range(viewport.height_of(index))[::step]:
            if self.needle in viewport.row(RowPosition(index, line)).text.casefold():
                has_hit = True
                yield line
        if not has_hit:
            yield int(viewport.entries[index].has_gap)


def block_text(block: Block) -> str:
    """Return the whole text of a block, casefolded."""
    match block:
        case UserMessage() | AssistantText() | ThinkingText() | NoticeLine():
            text = block.text
        case ToolCard():
            text = f"{block.name} {block.identifier}\n{_shown_result(block)}"
            if block.decision is not None and block.decision.feedback:
                text += f"\n{block.decision.feedback}"
        case HookLine():
            text = "\n".join((block.event, block.outcome, *block.notices))
        case ErrorBlock():
            text = f"{block.kind} {block.message}"
        case CompactionLine():
            text = block.summary
        case EndLine():
            text = block.detail
        case _:
            assert_never(block)
    return text.casefold()


def _shown_result(card: ToolCard) -> str:
    match card.display:
        case DiffDisplay() if card.state in ("ok", "running"):
            hunks = diff_texts(card.display.old, card.display.new).hunks
            return "\n".join(line.text for hunk in hunks for line in hunk)
        case PlanDisplay() if card.state == "ok":
            return card.display.plan
        case _:
            return card.result or card.output


class OlderPages(Protocol):
    """The earlier pages of the session."""

    @property
    def has_more(self) -> bool: ...
    async def older(self) -> bool: ...


class SearchSession:
    """Runs one search at a time, with at most one pending jump."""

    def __init__(
        self,
        transcript: TranscriptWidget,
        past: OlderPages,
        start_worker: Callable[[Awaitable[None]], None],
        on_change: Callable[[], None],
    ) -> None:
        """`on_change` is called when the state changes without a key."""
        self._transcript = transcript
        self._past = past
        self._start_worker = start_worker
        self._on_change = on_change
        self._search = TranscriptSearch("")
        self._added_before = 0
        self._pending: Callable[[], bool] | None = None
        """Attempts the jump on the loaded blocks and returns whether it succeeded."""
        self._needs_all = False
        self._is_working = False
        self.current_hit: RowPosition | None = None
        """The hit of the last jump."""
        self._number = 0

    @property
    def needle(self) -> str:
        """The query, casefolded; "" without a search."""
        return self._search.needle

    @property
    def hit_summary(self) -> str:
        """The number of hits, and which one is shown, as text; "" without a search."""
        if not self.needle:
            return "reading …" if self._pending is not None else ""
        count = self._search.count
        more = "" if self._is_complete else " …"
        if not count:
            return "searching …" if more else "nothing found"
        number = f"{self._number}/" if self._number else ""
        return f"{number}{count:,}{'+' if more else ''} hit{'' if count == 1 else 's'}{more}"

    def find(self, query: str) -> None:
        """Start another search and go to its newest hit, which is usually the wanted one."""
        self._follow()
        entries = self._transcript.viewport.entries
        self._search = TranscriptSearch(query, len(entries), self._search)
        self.current_hit = None
        self._number = 0
        self._transcript.set_search(self.needle)
        self._pending = None
        if self.needle:
            self._search.search_portion(entries)
            self.go(-1)

    def go(self, step: int) -> None:
        """Go to the next hit below (1) or above (-1); wraps around at the end."""
        if self.needle:
            self._jump(lambda: self._try_jump(step), needs_all=False)

    def to_prompt(self, direction: int) -> None:
        """Go to the previous (-1) or next (1) message of the user."""
        if direction > 0:
            self._transcript.to_prompt(direction)
            return
        self._jump(
            lambda: self._transcript.to_prompt(direction) or not self._past.has_more,
            needs_all=False,
        )

    def to_start(self) -> None:
        """Go to the first row of the session."""
        self._transcript.to_start()
        self.with_all(self._transcript.to_start)

    def with_all(self, work: Callable[[], None]) -> None:
        """Call `work` once the whole transcript is loaded."""

        def attempt() -> bool:
            if self._past.has_more:
                return False
            work()
            return True

        self._jump(attempt, needs_all=True)

    def cancel_jump(self) -> None:
        """Cancel the pending jump, because another key was pressed."""
        self._pending = None

    # Hits

    def _try_jump(self, step: int) -> bool:
        viewport = self._transcript.viewport
        end = RowPosition(len(viewport.entries), 0)
        search = self._search.next if step > 0 else self._search.previous
        place = search(viewport, self.current_hit or (RowPosition(-1, 0) if step > 0 else end))
        if place is None and not self._is_complete:
            return False
        place = place or search(viewport, RowPosition(-1, 0) if step > 0 else end)
        if place is not None:
            self.current_hit = place
            self._number = self._search.number(viewport, place)
            self._transcript.to_hit(place)
        return True

    @property
    def _is_complete(self) -> bool:
        count = len(self._transcript.viewport.entries)
        return self._search.is_complete(count) and not (self.needle and self._past.has_more)

    def _follow(self) -> None:
        """Adjust positions to blocks that were added at the front."""
        shift = self._transcript.added_before - self._added_before
        self._added_before += shift
        if shift:
            self._search.shift(shift)
            if self.current_hit is not None:
                self.current_hit = RowPosition(
                    self.current_hit.block + shift, self.current_hit.line
                )

    # Pending jumps

    def _jump(self, attempt: Callable[[], bool], *, needs_all: bool) -> None:
        self._follow()
        if attempt():
            self._pending = None
        else:
            self._pending, self._needs_all = attempt, needs_all
        if not self._is_working and (self._pending is not None or not self._is_complete):
            self._is_working = True
            self._start_worker(self._work())

    async def _search_more(self) -> bool:
        """Search a portion, or else read a page; False if neither is left or needed."""
        self._follow()
        entries = self._transcript.viewport.entries
        if not self._search.is_complete(len(entries)):
            self._search.search_portion(entries)
            return True
        if not (self.needle or self._pending is not None) or not self._past.has_more:
            return False
        has_page = await self._past.older()
        if has_page:
            self._follow()
        return has_page

    async def _work(self) -> None:
        """Search and read pages until all is searched and no jump is pending."""
        try:
            while True:
                # Let the loop handle keys and draw frames between two portions.
                await asyncio.sleep(0)
                if not await self._search_more():
                    break
                if self._pending is not None and not self._needs_all and self._pending():
                    self._pending = None
                self._on_change()
        finally:
            self._is_working = False
        pending, self._pending = self._pending, None
        if pending is not None:
            pending()
        self._on_change()
