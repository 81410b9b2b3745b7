"""Words in the transcript: which blocks hold them, and on which of their rows. Pure.

Blocks are searched by their text, from the newest back and a portion at a time, so that no key
waits for a long conversation; rows only of blocks that are looked at.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, assert_never

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
from tui.transcript.viewport import RowPosition, Viewport, ViewportEntry

PORTION_CHARS: Final = 300_000
"""Some milliseconds' worth of text: what one step looks through."""


class TranscriptSearch:
    """One query over one transcript; capitals do not matter.

    Blocks are known by their distance from the first one that was there at the start, so that what
    comes in above moves none of them.
    """

    def __init__(self, query: str, end: int = 0, narrows: TranscriptSearch | None = None) -> None:
        """Begin at the end of so many blocks; an empty query finds none.

        A query that goes on from that of `narrows` looks only where that one found something, as
        far as that one came.
        """
        self.needle = query.casefold()
        self.count = 0
        """How often the query occurs in the texts looked through so far."""
        self._above = 0
        self._hits: list[int] = []
        self._sizes: list[int] = []
        self._low = self._high = end
        self._again: list[int] = []
        if narrows is not None and narrows.needle and narrows.needle in self.needle:
            self._low, self._high, self._above = narrows._low, narrows._high, narrows._above
            self._again = [*narrows._again, *narrows._hits]

    def moved(self, count: int) -> None:
        """Take note of so many blocks that came in above all others."""
        self._above += count

    def is_complete(self, count: int) -> bool:
        """Whether all of so many blocks were looked through."""
        if not self.needle:
            return True
        return (
            not self._again and self._low + self._above <= 0 and self._high + self._above >= count
        )

    def look(self, entries: Sequence[ViewportEntry], limit_chars: int = PORTION_CHARS) -> None:
        """Look through about so many characters more, the newest first; one block at least."""
        left = limit_chars
        older: list[tuple[int, int]] = []
        while left > 0 and not self.is_complete(len(entries)):
            block = self._next_block(len(entries))
            index = block + self._above
            text = block_text(entries[index].block) if 0 <= index < len(entries) else ""
            left -= len(text) + 100
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
        if self._again:
            return self._again.pop()
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
        """Return which hit a row holds: 1 is the newest, `count` at most the oldest."""
        at = bisect_left(self._hits, place.block - self._above)
        newer = sum(self._sizes[at + 1 :])
        below = sum(
            viewport.row(RowPosition(place.block, line)).text.casefold().count(self.needle)
            for line in range(place.line + 1, viewport.height_of(place.block))
        )
        # Rows may show more than the text that is compared has, and break a hit in two.
        return newer + min(below + 1, self._sizes[at] if at < len(self._sizes) else 1)

    def _lines(self, viewport: Viewport, index: int, step: int) -> Iterator[int]:
        """Yield the rows of a block with a hit; its first one where none shows it whole."""
        if not 0 <= index < len(viewport.entries):
            return
        found = False
        for line in range(viewport.height_of(index))[::step]:
            if self.needle in viewport.row(RowPosition(index, line)).text.casefold():
                found = True
                yield line
        if not found:
            yield int(viewport.entries[index].has_gap)


def block_text(block: Block) -> str:
    """Return all that a block says, in the form that is compared."""
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
