"""Tracks which rows of the transcript are in the terminal's scrollback, in the inline mode. Pure.

Rows are written in order, once, and never changed: a block when it is final, and of a growing
answer also the rows that are final.
"""

from __future__ import annotations

from collections.abc import Sequence

from tui.text.styled_rows import BLANK, Row
from tui.transcript.blocks import AssistantText, Block, ThinkingText, ToolCard
from tui.transcript.viewport import RowPosition, Viewport

HEADER: RowPosition = RowPosition(-1, 0)
"""The position of the header, which is before all blocks."""


class Scrollback:
    """Tracks a viewport, whose rows before `_next` are in the scrollback."""

    def __init__(self, viewport: Viewport) -> None:
        """Start without rows in the scrollback."""
        self._viewport = viewport
        self._next = RowPosition(0, 0)
        self._next_chars = 0
        """Number of characters of the next block that are written, which no new width changes."""
        self._next_key = ""
        """Key of the block whose rows are written."""
        self._written_keys: set[str] = set()
        self._header: Sequence[Row] = ()
        self.is_paused = False
        """Whether the whole transcript is shown, and nothing is written during that time."""
        self._skips_page = False

    def set_header(self, rows: Sequence[Row]) -> None:
        """Set the rows that are written before the first block."""
        if not self._written_keys:
            self._header = rows

    def skip(self) -> None:
        """Treat the viewport's blocks, and the next page added before them, as written."""
        self._skips_page = True
        self._written_keys.update(entry.block.key for entry in self._viewport.entries)
        self._seek(0)

    def added_before(self, count: int) -> None:
        """Handle blocks that were added at the front."""
        if self.is_paused or self._skips_page:
            # Older pages, only for reading: they are not written.
            entries = self._viewport.entries[:count]
            self._written_keys.update(entry.block.key for entry in entries)
            self._skips_page = False
        self._next = RowPosition(self._next.block + count, self._next.line)
        self._seek(0)

    def replaced_from(self, first: int) -> None:
        """Handle blocks that may have changed from this index on."""
        if first <= self._next.block:
            self._seek(first)

    def handle_resize(self) -> None:
        """Find the first row with text that is not written, in the layout of another width.

        If rows wrap differently, some words may be repeated, but none are lost.
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
        """Return the number of rows that are not written and may change, at most `limit`."""
        viewport, first = self._viewport, self._first_open()
        start = max(self._next, RowPosition(first, 0), key=_order)
        count = -start.line
        for index in range(start.block, len(viewport.entries)):
            if viewport.entries[index].block.key not in self._written_keys:
                count += viewport.height_of(index)
            if count >= limit:
                return limit
        return max(0, count)

    def take(self, shown_from: RowPosition | None) -> list[Row]:
        """Return the next rows to write; `shown_from` is the first row on the screen, if any."""
        viewport, first = self._viewport, self._first_open()
        end = RowPosition(first, 0)
        if first < len(viewport.entries):
            entry = viewport.entries[first]
            settled_count = viewport.layout_of(first).settled_rows
            if settled_count and _is_written_in_parts(entry.block):
                end = RowPosition(first, entry.has_gap + settled_count)
        if shown_from is not None:
            end = min(end, shown_from, key=_order)
        return self._rows_until(end)

    def take_rest(self) -> list[Row]:
        """Return all rows that are not written."""
        return self._rows_until(RowPosition(len(self._viewport.entries), 0))

    def _rows_until(self, end: RowPosition) -> list[Row]:
        rows: list[Row] = []
        viewport = self._viewport
        while _order(self._next) < _order(end):
            block, line = self._next.block, self._next.line
            entry = viewport.entries[block]
            if line == 0 and entry.block.key in self._written_keys:
                self._next = RowPosition(block + 1, 0)
                continue
            stop = end.line if block == end.block else viewport.height_of(block)
            new_rows = [viewport.row(RowPosition(block, number)) for number in range(line, stop)]
            rows.extend(new_rows)
            self._next_chars = sum(map(_ink, new_rows)) + (self._next_chars if line else 0)
            self._next, self._next_key = RowPosition(block, stop), entry.block.key
            if block < end.block:
                self._written_keys.add(entry.block.key)
                self._next, self._next_chars = RowPosition(block + 1, 0), 0
        if rows and self._header:
            rows[:0] = [*self._header, BLANK]
            self._header = ()
        return rows

    def _first_open(self) -> int:
        """Return the index of the first block that may still change."""
        viewport, index = self._viewport, self._next.block
        while index < len(viewport.entries):
            block = viewport.entries[index].block
            if block.key not in self._written_keys:
                layout = viewport.layout_of(index)
                if _is_open(block) or layout.settled_rows < layout.height:
                    return index
            index += 1
        return index

    def _seek(self, first: int) -> None:
        """Continue with the first block from this index on that is not written."""
        entries, index = self._viewport.entries, first
        while index < len(entries) and entries[index].block.key in self._written_keys:
            index += 1
        is_other = index == len(entries) or entries[index].block.key != self._next_key
        if index != self._next.block or is_other:
            self._next, self._next_chars = RowPosition(index, 0), 0


def _order(place: RowPosition) -> tuple[int, int]:
    return place.block, place.line


def _ink(row: Row) -> int:
    """Return the number of visible characters of a row, which wrapping does not change."""
    return len("".join(row.text.split()))


def _is_written_in_parts(block: Block) -> bool:
    return isinstance(block, AssistantText)


def _is_open(block: Block) -> bool:
    match block:
        case AssistantText() | ThinkingText():
            return block.is_streaming
        case ToolCard():
            return block.state in ("writing", "running", "asking")
        case _:
            return False
