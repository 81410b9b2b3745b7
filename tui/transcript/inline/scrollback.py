"""Which rows of the transcript are in the terminal's scrollback, in the inline mode. Pure.

Rows are handed over in order, once, and never taken back: a block when nothing of it will change,
of an answer that grows beyond the window also the rows that are done.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.text.styled_rows import BLANK, Row
from tui.transcript.blocks import AssistantText, Block, ThinkingText, ToolCard
from tui.transcript.viewport import RowPosition, Viewport

HEADER: RowPosition = RowPosition(-1, 0)
"""The position of a header's rows, which come before all blocks."""


class Scrollback:
    """Follows a viewport; its blocks before `_next` are handed over."""

    def __init__(self, viewport: Viewport) -> None:
        """Nothing is handed over yet."""
        self._viewport = viewport
        self._next = RowPosition(0, 0)
        self._next_chars = 0
        """Characters of the rows of that block that are handed over: they survive a new width."""
        self._next_key = ""
        """Of the block of which rows are handed over."""
        self._given_keys: set[str] = set()
        self._header: Sequence[Row] = ()
        self.is_paused = False
        """Whether the transcript is shown as a whole, and nothing is handed over meanwhile."""
        self._skips_page = False

    def set_header(self, rows: Sequence[Row]) -> None:
        """Take rows that go before the first block."""
        if not self._given_keys:
            self._header = rows

    def skip(self) -> None:
        """Take what the viewport has now, and the next page before it, for handed over."""
        self._skips_page = True
        self._given_keys.update(entry.block.key for entry in self._viewport.entries)
        self._seek(0)

    def added_before(self, count: int) -> None:
        """Blocks were added before all others."""
        if self.is_paused or self._skips_page:
            # Older pages, for somebody who reads.
            entries = self._viewport.entries[:count]
            self._given_keys.update(entry.block.key for entry in entries)
            self._skips_page = False
        self._next = RowPosition(self._next.block + count, self._next.line)
        self._seek(0)

    def replaced_from(self, first: int) -> None:
        """Blocks from this one on may be others."""
        if first <= self._next.block:
            self._seek(first)

    def handle_resize(self) -> None:
        """Find the first row with something not handed over in a layout of another width.

        That may repeat some words, where rows break in other places, and loses none.
        """
        viewport, block = self._viewport, self._next.block
        if self._next.line == 0 or block >= len(viewport.entries):
            return
        line, chars, height = 0, 0, viewport.height_of(block)
        while line < height:
            chars += _ink(viewport.row(RowPosition(block, line)))
            if chars > self._next_chars:
                break
            line += 1
        self._next = RowPosition(block, line)

    def live_rows(self, limit: int) -> int:
        """Return how many rows are not handed over and may change; `limit` where there are more."""
        viewport, first = self._viewport, self._first_open()
        start = max(self._next, RowPosition(first, 0), key=_order)
        count = -start.line
        for index in range(start.block, len(viewport.entries)):
            if viewport.entries[index].block.key not in self._given_keys:
                count += viewport.height_of(index)
            if count >= limit:
                return limit
        return max(0, count)

    def take(self, shown_from: RowPosition | None) -> list[Row]:
        """Return the rows to hand over; `shown_from` is the first row on the screen, if any is."""
        viewport, first = self._viewport, self._first_open()
        end = RowPosition(first, 0)
        if first < len(viewport.entries):
            entry = viewport.entries[first]
            settled_count = viewport.layout_of(first).settled_rows
            if settled_count and _may_give_parts(entry.block):
                end = RowPosition(first, entry.has_gap + settled_count)
        if shown_from is not None:
            end = min(end, shown_from, key=_order)
        return self._rows_until(end)

    def take_rest(self) -> list[Row]:
        """Return all rows that are not handed over."""
        return self._rows_until(RowPosition(len(self._viewport.entries), 0))

    def _rows_until(self, end: RowPosition) -> list[Row]:
        rows: list[Row] = []
        viewport = self._viewport
        while _order(self._next) < _order(end):
            block, line = self._next.block, self._next.line
            entry = viewport.entries[block]
            if line == 0 and entry.block.key in self._given_keys:
                self._next = RowPosition(block + 1, 0)
                continue
            stop = end.line if block == end.block else viewport.height_of(block)
            new_rows = [viewport.row(RowPosition(block, number)) for number in range(line, stop)]
            rows.extend(new_rows)
            self._next_chars = sum(map(_ink, new_rows)) + (self._next_chars if line else 0)
            self._next, self._next_key = RowPosition(block, stop), entry.block.key
            if block < end.block:
                self._given_keys.add(entry.block.key)
                self._next, self._next_chars = RowPosition(block + 1, 0), 0
        if rows and self._header:
            rows[:0] = [*self._header, BLANK]
            self._header = ()
        return rows

    def _first_open(self) -> int:
        """Return the first block that may still change."""
        viewport, index = self._viewport, self._next.block
        while index < len(viewport.entries):
            block = viewport.entries[index].block
            if block.key not in self._given_keys:
                layout = viewport.layout_of(index)
                if _is_open(block) or layout.settled_rows < layout.height:
                    return index
            index += 1
        return index

    def _seek(self, first: int) -> None:
        """Continue with the first block, from this one on, that is not handed over."""
        entries, index = self._viewport.entries, first
        while index < len(entries) and entries[index].block.key in self._given_keys:
            index += 1
        is_other = index == len(entries) or entries[index].block.key != self._next_key
        if index != self._next.block or is_other:
            self._next, self._next_chars = RowPosition(index, 0), 0


def _order(place: RowPosition) -> tuple[int, int]:
    return place.block, place.line


def _ink(row: Row) -> int:
    """Return how many characters of a row are seen, which no width changes."""
    return len("".join(row.text.split()))


def _may_give_parts(block: Block) -> bool:
    return isinstance(block, AssistantText)


def _is_open(block: Block) -> bool:
    match block:
        case AssistantText() | ThinkingText():
            return block.is_streaming
        case ToolCard():
            return block.state in ("writing", "running", "asking")
        case _:
            return False
