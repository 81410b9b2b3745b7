"""Words in the transcript: which blocks hold them, and on which of their rows. Pure.

Blocks are searched by their text, rows only of blocks that are looked at: a search costs what the
texts cost, however long the transcript is when laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from tui.components.viewport import Place, Viewport
from tui.view import (
    AssistantText,
    Block,
    CompactionLine,
    EndLine,
    ErrorBlock,
    HookLine,
    NoticeLine,
    PersonMessage,
    ThinkingText,
    ToolCard,
)


class TranscriptSearch:
    """One query over one transcript; capitals do not matter."""

    def __init__(self, query: str, blocks: Sequence[Block]) -> None:
        """Find the blocks that hold the query; none for an empty one."""
        self.needle = query.casefold()
        self.blocks: tuple[int, ...] = ()
        self.count = 0
        """How often the query occurs in the texts."""
        self._counts: dict[int, int] = {}
        if not self.needle:
            return
        counts = [(i, block_text(block).count(self.needle)) for i, block in enumerate(blocks)]
        self._counts = {index: count for index, count in counts if count}
        self.blocks = tuple(self._counts)
        self.count = sum(self._counts.values())

    def next(self, viewport: Viewport, place: Place) -> Place | None:
        """Return the first hit below a row, or from the top on; None without any."""
        for lap in (place, Place(-1, 0)):
            for index in self.blocks:
                if index >= lap.block:
                    for line in self._lines(viewport, index, 1):
                        if (index, line) > (lap.block, lap.line):
                            return Place(index, line)
        return None

    def previous(self, viewport: Viewport, place: Place) -> Place | None:
        """Return the last hit above a row, or from the end on; None without any."""
        end = Place(len(viewport.entries), 0)
        for lap in (place, end):
            for index in reversed(self.blocks):
                if index <= lap.block:
                    for line in self._lines(viewport, index, -1):
                        if (index, line) < (lap.block, lap.line):
                            return Place(index, line)
        return None

    def number(self, viewport: Viewport, place: Place) -> int:
        """Return which hit a row holds: 1 is the newest, `count` at most the oldest."""
        newer = sum(count for index, count in self._counts.items() if index > place.block)
        below = sum(
            viewport.row(Place(place.block, line)).text.casefold().count(self.needle)
            for line in range(place.line + 1, viewport.height_of(place.block))
        )
        # Rows may show more than the text that is compared has, and break a hit in two.
        return newer + min(below + 1, self._counts.get(place.block, 1))

    def _lines(self, viewport: Viewport, index: int, step: int) -> Iterator[int]:
        """Yield the rows of a block with a hit; its first one where none shows it whole."""
        if index >= len(viewport.entries):
            return
        found = False
        for line in range(viewport.height_of(index))[::step]:
            if self.needle in viewport.row(Place(index, line)).text.casefold():
                found = True
                yield line
        if not found:
            yield int(viewport.entries[index].has_gap)


def block_text(block: Block) -> str:
    """Return all that a block says, in the form that is compared."""
    match block:
        case PersonMessage() | AssistantText() | ThinkingText() | NoticeLine():
            text = block.text
        case ToolCard():
            text = f"{block.name} {block.identifier}\n{block.result or block.output}"
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
