"""Renders Markdown that grows at its end: finished blocks are cached, the tail is rendered again.

The cost per frame is that of the tail. Everything before the parser's last top-level token is
finished. The lines of an open code fence are cached, so that only new ones are highlighted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from tui.text.highlight import BlockKey, Highlighter
from tui.text.styled_rows import BLANK, Row
from tui.transcript.markdown.markdown_rows import (
    OpenFence,
    block_starts,
    last_block_start,
    last_item_start,
    markdown_rows,
    open_fence,
)

_LONG_TAIL_CHARS: Final = 4_000
"""A tail longer than this is rendered again only after it has grown by a fraction of its length."""
_GROWTH: Final = 0.02
_LONG_LIST_CHARS: Final = 600
"""In a list longer than this, the rows of all items except the last are cached."""
_PIECE_CHARS: Final = 1_000
"""Approximate size of the pieces of finished text that are drawn again after highlighting."""


class _Piece(Struct, frozen=True):
    """Finished rows whose code is still being lexed."""

    text: str
    start: int
    """Index of the first one among all finished rows."""
    count: int
    unready: frozenset[BlockKey]


class MarkdownStream:
    """Converts text that arrives in pieces to rows."""

    def __init__(self, width_cells: int, highlighter: Highlighter) -> None:
        """Start a layout for this width; another width needs another stream."""
        self._width = max(1, width_cells)
        self._highlighter = highlighter
        self._tail_text = ""
        self._held_text = ""
        self._held_rows: list[Row] = []
        self._finished_rows: list[Row] = []
        self._finished_count = 0
        self._unready: list[_Piece] = []
        self._has_content = False
        self._fence: OpenFence | None = None
        self._tail_rows: list[Row] | None = []
        self._parsed_chars = 0
        self._is_over = False
        # Files that an earlier answer announced may exist by now.
        highlighter.forget_missing()

    def feed(self, text: str) -> None:
        """Append text."""
        if not text:
            return
        if self._fence is not None:
            self._tail_rows = None
            rest = self._fence.feed(text)
            if rest is None:
                return
            # The fence is closed: highlight it as a whole; the text after it is the new tail.
            self._finish_text(self._fence.source)
            self._fence = None
            text = rest
        self._tail_text += text
        self._cut()

    def finish(self) -> None:
        """Finish all rows, because the text is complete."""
        if self._is_over:
            return
        self._is_over = True
        text = self._fence.source if self._fence is not None else self._tail_text
        text = self._held_text + text
        self._fence = None
        self._tail_text = ""
        self._release_held()
        self._finish_text(text)
        self._tail_rows = []

    def take_finished(self) -> list[Row]:
        """Return rows that became final since the last call."""
        rows, self._finished_rows = self._finished_rows, []
        return rows

    @property
    def first_unready_row(self) -> int | None:
        """The first finished row whose code is still being lexed; None without any."""
        return self._unready[0].start if self._unready else None

    def take_repainted(self) -> list[tuple[int, list[Row]]]:
        """Return finished rows whose highlighting has become ready, with the index of the first."""
        self._tail_rows = None
        repaints: list[tuple[int, list[Row]]] = []
        unready: list[_Piece] = []
        for piece in self._unready:
            if not self._highlighter.has_news(piece.unready):
                unready.append(piece)
                continue
            rows = self._paint(piece.text, piece.start, unready)
            # Highlighting does not change widths, so the number of rows is the same.
            repaints.append((piece.start, rows[: piece.count]))
        self._unready = unready
        return repaints

    def tail(self) -> list[Row]:
        """Return the rows that may still change."""
        if self._tail_rows is None:
            if self._fence is not None:
                rows = self._fence.rows()
            else:
                live = markdown_rows(self._tail_text, self._width, self._highlighter)
                rows = [*self._held_rows, *live]
            self._tail_rows = [BLANK, *rows] if rows and self._has_content else rows
        return self._tail_rows

    def _cut(self) -> None:
        size = len(self._tail_text)
        if size > _LONG_TAIL_CHARS and size < self._parsed_chars * (1 + _GROWTH):
            return
        self._tail_rows = None
        self._parsed_chars = size
        start = last_block_start(self._tail_text)
        if start:
            self._finish_text(self._held_text + self._tail_text[:start])
            self._release_held()
            self._tail_text = self._tail_text[start:]
            self._parsed_chars = len(self._tail_text)
        elif size > _LONG_LIST_CHARS and (item := last_item_start(self._tail_text)):
            # A later blank line may make the whole list loose, so it is drawn again as a whole
            # at its end.
            items = self._tail_text[:item]
            self._held_text += items
            self._held_rows.extend(markdown_rows(items, self._width, self._highlighter))
            self._tail_text = self._tail_text[item:]
            self._parsed_chars = len(self._tail_text)
        fence = open_fence(self._tail_text, self._width, self._highlighter)
        if fence is not None and not self._held_text:
            self._fence = fence
            self._tail_text = ""
            self._parsed_chars = 0

    def _release_held(self) -> None:
        self._held_text = ""
        self._held_rows = []

    def _finish_text(self, text: str) -> None:
        for piece in _pieces(text):
            start = self._finished_count + self._has_content
            rows = self._paint(piece, start, self._unready)
            if not rows:
                continue
            if self._has_content:
                self._finished_rows.append(BLANK)
            self._finished_rows.extend(rows)
            self._finished_count = start + len(rows)
            self._has_content = True

    def _paint(self, text: str, start: int, unready: list[_Piece]) -> list[Row]:
        self._highlighter.take_unready()
        rows = markdown_rows(text, self._width, self._highlighter, is_final=True)
        if keys := self._highlighter.take_unready():
            unready.append(_Piece(text, start, len(rows), keys))
        return rows


def _pieces(text: str) -> Iterator[str]:
    """Split a text between top-level blocks."""
    if len(text) <= 2 * _PIECE_CHARS:
        yield text
        return
    begin = 0
    for start in block_starts(text):
        if start - begin >= _PIECE_CHARS:
            yield text[begin:start]
            begin = start
    yield text[begin:]
