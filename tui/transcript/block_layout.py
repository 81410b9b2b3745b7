"""The layout of a transcript block at one width: fixed, or growing while the answer streams."""

from __future__ import annotations

from typing import Final, Protocol

from tui.images.inline_images import InlineImages
from tui.text.highlight import Highlighter
from tui.text.styled_rows import MUTED, Row, Run, indent_rows
from tui.transcript.block_rows import GUTTER_CELLS, block_rows
from tui.transcript.blocks import AssistantText, Block
from tui.transcript.markdown.markdown_stream import MarkdownStream
from tui.transcript.results.image_blocks import shown_images
from tui.transcript.tool_card import ToolLevel

_GUTTER: Final[tuple[Run, ...]] = ((" " * GUTTER_CELLS, MUTED),)


class Layout(Protocol):
    """The rows of a block at one width."""

    @property
    def height(self) -> int:
        """How many rows there are."""
        ...

    @property
    def settled_rows(self) -> int:
        """Number of rows, from the first one, that will not change."""
        ...

    def row(self, line: int) -> Row:
        """Return a row; the same object as before if nothing has changed."""
        ...

    def update(self, block: Block) -> bool:
        """Update to a newer state of the block; False if that needs a new layout."""
        ...

    def repaint(self) -> bool:
        """Apply highlighting that has become ready; False if that needs a new layout."""
        ...


class FixedLayout:
    """Rows that never change."""

    def __init__(
        self,
        block: Block,
        width_cells: int,
        *,
        is_detailed: bool,
        highlighter: Highlighter,
        level: ToolLevel = "short",
        images: InlineImages | None = None,
    ) -> None:
        """Make all rows at once."""
        self._highlighter = highlighter
        highlighter.take_unready()
        self._rows = block_rows(
            block, width_cells, is_detailed=is_detailed, highlighter=highlighter, level=level
        )
        if images is not None and level != "line":
            for image in shown_images(block):
                width = width_cells - GUTTER_CELLS - 1
                self._rows += indent_rows(images.rows(image, width), _GUTTER, _GUTTER)
        self._unready = highlighter.take_unready()

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    @property
    def settled_rows(self) -> int:
        """All rows, or 0 while code waits for highlighting."""
        return 0 if self._unready else len(self._rows)

    def row(self, line: int) -> Row:
        """Return a row."""
        return self._rows[line]

    def update(self, block: Block) -> bool:
        """Return False: another state needs a new layout."""
        return False

    def repaint(self) -> bool:
        """Return False if highlighting has become ready, which needs a new layout."""
        return not self._highlighter.has_news(self._unready)


class AnswerLayout:
    """An answer in Markdown: rows of finished blocks are cached, the tail is rendered again."""

    def __init__(self, block: AssistantText, width_cells: int, *, highlighter: Highlighter) -> None:
        """Lay out the text so far."""
        self._stream = MarkdownStream(width_cells - GUTTER_CELLS - 1, highlighter)
        self._finished_rows: list[Row] = []
        self._tail: list[Row] = []
        self._tail_source: list[Row] = []
        self._taken_chars = 0
        self.update(block)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self._finished_rows) + len(self._tail)

    @property
    def settled_rows(self) -> int:
        """Number of rows of finished Markdown, up to the first code that waits for highlighting."""
        unready = self._stream.first_unready_row
        return len(self._finished_rows) if unready is None else unready

    def row(self, line: int) -> Row:
        """Return a row."""
        count = len(self._finished_rows)
        return self._finished_rows[line] if line < count else self._tail[line - count]

    def update(self, block: Block) -> bool:
        """Lay out text that was added at the end; False if the text is shorter than before."""
        if not isinstance(block, AssistantText) or len(block.text) < self._taken_chars:
            return False
        self._stream.feed(block.text[self._taken_chars :])
        self._taken_chars = len(block.text)
        if not block.is_streaming:
            self._stream.finish()
        self._finished_rows.extend(indent_rows(self._stream.take_finished(), _GUTTER, _GUTTER))
        self._take_tail(self._stream.tail())
        return True

    def repaint(self) -> bool:
        """Replace rows whose highlighting has become ready."""
        for start, rows in self._stream.take_repainted():
            self._finished_rows[start : start + len(rows)] = indent_rows(rows, _GUTTER, _GUTTER)
        self._take_tail(self._stream.tail())
        return True

    def _take_tail(self, rows: list[Row]) -> None:
        """Indent new rows only; most rows of a growing tail are the same objects as before."""
        old_rows = self._tail_source
        same_count = 0
        for old_row, now in zip(old_rows, rows, strict=False):
            if old_row is not now:
                break
            same_count += 1
        self._tail[same_count:] = indent_rows(rows[same_count:], _GUTTER, _GUTTER)
        self._tail_source = rows


def make_layout(
    block: Block,
    width_cells: int,
    *,
    is_detailed: bool,
    highlighter: Highlighter,
    level: ToolLevel = "short",
    images: InlineImages | None = None,
) -> Layout:
    """Return the layout of a block."""
    if isinstance(block, AssistantText):
        return AnswerLayout(block, width_cells, highlighter=highlighter)
    return FixedLayout(
        block,
        width_cells,
        is_detailed=is_detailed,
        highlighter=highlighter,
        level=level,
        images=images,
    )
