"""The visible rows of a long list of blocks, anchored to a block instead of a row number.

Pure. Only visible blocks are laid out; the cost of a step does not depend on the number of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from agent.display import DiffDisplay
from tui.images.inline_images import InlineImages
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, Row
from tui.transcript.block_layout import Layout, make_layout
from tui.transcript.block_rows import needs_gap
from tui.transcript.blocks import AssistantText, Block, ThinkingText, ToolCard, UserMessage
from tui.transcript.diff.split_rows import is_split
from tui.transcript.tool_card import ToolLevel

_PIN_BLOCKS: Final = 1_000
"""Maximum number of blocks above the top that are searched for the message in a frame."""
_CACHED_LAYOUTS: Final = 400
"""Layouts further from the screen than this many blocks are dropped."""


class ViewportEntry(Struct):
    """A block and its layout."""

    block: Block
    has_gap: bool
    """Whether a blank row precedes it."""
    layout: Layout | None = None
    rows_before_layout: int = 1
    """Estimated height while there is no layout, including the gap."""
    generation: int = 0
    is_open: bool = False
    """Whether the user has unfolded this block."""


class RowPosition(Struct, frozen=True):
    """The position of a row in the transcript."""

    block: int
    line: int
    """Row of the block; 0 is the blank row before it, if it has one."""


class Viewport(Struct):
    """The list of blocks, and the part of it that is visible."""

    highlighter: Highlighter
    width_cells: int = 80
    height_rows: int = 24
    is_detailed: bool = False
    levels: Mapping[str, ToolLevel] = field(default_factory=dict)
    base_level: ToolLevel = "short"
    """Level of detail for calls of tools that are not in `levels`."""
    wide_cells: int = 0
    """Width for changes in two columns."""
    images: InlineImages | None = None
    """Shows images, if the terminal supports them."""
    is_following: bool = True
    """Whether new rows scroll into view; False after scrolling up, True again at the end."""
    top: RowPosition = field(default_factory=lambda: RowPosition(0, 0))
    unseen_blocks: int = 0
    """Number of blocks added at the end since the user scrolled up."""
    _entries: list[ViewportEntry] = field(default_factory=list)
    _sums: list[int] = field(default_factory=lambda: [0])
    """Estimated rows before each block, as far as computed since the last change."""

    @property
    def entries(self) -> Sequence[ViewportEntry]:
        """The blocks with their layouts, read-only."""
        return self._entries

    def replace_from(self, first: int, blocks: Sequence[Block]) -> None:
        """Set the blocks; those before `first` are unchanged."""
        entries = self._entries
        old_count = len(entries)
        del entries[len(blocks) :]
        first = min(first, len(entries))
        del self._sums[first + 1 :]
        for index in range(first, len(blocks)):
            block = blocks[index]
            previous = blocks[index - 1] if index else None
            gap = needs_gap(previous, block, is_detailed=self.is_detailed)
            if index == len(entries):
                entries.append(ViewportEntry(block, gap, None, self._estimate(block) + gap))
                continue
            entry = entries[index]
            entry.has_gap = gap
            if entry.block is not block:
                is_same = entry.block.key == block.key
                entry.block = block
                if entry.layout is not None and not (is_same and entry.layout.update(block)):
                    entry.layout = None
                entry.rows_before_layout = self._estimate(block) + gap
        if not self.is_following:
            self.unseen_blocks += max(0, len(entries) - old_count)
        self._clamp()

    def add_before(self, blocks: Sequence[Block]) -> None:
        """Add blocks at the front; the visible part does not move."""
        new: list[ViewportEntry] = []
        previous: Block | None = None
        for block in blocks:
            gap = needs_gap(previous, block, is_detailed=self.is_detailed)
            new.append(ViewportEntry(block, gap, None, self._estimate(block) + gap))
            previous = block
        if self._entries and previous is not None:
            first = self._entries[0]
            had_gap = first.has_gap
            first.has_gap = needs_gap(previous, first.block, is_detailed=self.is_detailed)
            if self.top.block == 0 and not had_gap and first.has_gap:
                self.top = RowPosition(0, self.top.line + 1)
        self._entries[0:0] = new
        self._sums = [0]
        self.top = RowPosition(self.top.block + len(new), self.top.line)

    def resize(self, width_cells: int, height_rows: int, wide_cells: int = 0) -> None:
        """Set the size; layouts of another width are dropped."""
        if (width_cells, wide_cells) != (self.width_cells, self.wide_cells):
            self.width_cells, self.wide_cells = width_cells, wide_cells
            self._forget_layouts()
        self.height_rows = max(1, height_rows)
        self._clamp()

    def set_base_level(self, level: ToolLevel) -> None:
        """Set the level of detail for tools that are not in `levels`."""
        self.base_level = level
        self._forget_layouts()
        self._clamp()

    def remake(self) -> None:
        """Drop all layouts, so that blocks are laid out again when visible."""
        self._forget_layouts()
        self._clamp()

    def set_levels(self, levels: Mapping[str, ToolLevel]) -> None:
        """Set the level of detail by tool; other tools have `base_level`."""
        self.levels = dict(levels)
        self._forget_layouts()
        self._clamp()

    def _width_of(self, block: Block) -> int:
        has_columns = isinstance(block, ToolCard) and isinstance(block.display, DiffDisplay)
        return self.wide_cells if has_columns and is_split(self.wide_cells) else self.width_cells

    def _level(self, block: Block) -> ToolLevel:
        if not isinstance(block, ToolCard):
            return "short"
        return self.levels.get(block.name, self.base_level)

    def set_detailed(self, is_detailed: bool) -> None:
        """Unfold or fold everything."""
        self.is_detailed = is_detailed
        self._forget_layouts()
        previous: Block | None = None
        for entry in self._entries:
            entry.has_gap = needs_gap(previous, entry.block, is_detailed=is_detailed)
            previous = entry.block
        self._clamp()

    def toggle(self, place: RowPosition) -> None:
        """Unfold or fold the block if the position is its first row or count of hidden lines."""
        entry = self._entries[place.block]
        is_handle = place.line == entry.has_gap or not self.row(place).is_copied
        if not is_handle or isinstance(entry.block, AssistantText):
            return
        entry.is_open = not entry.is_open
        entry.layout = None
        entry.rows_before_layout = self._estimate(entry.block) + entry.has_gap
        del self._sums[place.block + 1 :]
        self._set_following(False)
        self._clamp()
        # Follow new rows again if the end is visible.
        self.scroll(0)

    def pinned_prompt(self) -> UserMessage | None:
        """Return the user's message before the top row; None if it is visible itself."""
        end = max(0, self.top.block - _PIN_BLOCKS)
        for index in range(min(self.top.block, len(self._entries) - 1), end - 1, -1):
            block = self._entries[index].block
            if isinstance(block, UserMessage):
                is_seen = index == self.top.block and self.top.line <= 1
                return None if is_seen else block
        return None

    def refresh_highlights(self) -> None:
        """Update layouts whose highlighting has become ready."""
        for index in range(*self._cached_range()):
            entry = self._entries[index]
            if entry.layout is None or entry.generation == self.highlighter.generation:
                continue
            if entry.layout.repaint():
                entry.generation = self.highlighter.generation
            else:
                entry.layout = None

    def visible(self) -> list[tuple[RowPosition, Row]]:
        """Return the visible rows, from the top; fewer than fit if there are not enough."""
        if self.is_following:
            self.top = self._last_top()
        rows: list[tuple[RowPosition, Row]] = []
        first = self.top.line
        for index in range(self.top.block, len(self._entries)):
            layout, gap = self.layout_of(index), self._entries[index].has_gap
            end = min(layout.height + gap, first + self.height_rows - len(rows))
            rows += [
                (RowPosition(index, line), BLANK if line < gap else layout.row(line - gap))
                for line in range(first, end)
            ]
            if len(rows) == self.height_rows:
                break
            first = 0
        self._drop_far_layouts()
        return rows

    def row(self, place: RowPosition) -> Row:
        """Return one row."""
        entry = self._entries[place.block]
        line = place.line - entry.has_gap
        return BLANK if line < 0 else self.layout_of(place.block).row(line)

    def scroll(self, rows: int) -> None:
        """Scroll by rows, down for a positive number; at the end, follow new rows again."""
        if not self._entries:
            return
        if self.is_following:
            self.top = self._last_top()
        step = self._next if rows > 0 else self._previous
        place = self.top
        for _ in range(abs(rows)):
            next_place = step(place)
            if next_place is None:
                break
            place = next_place
        end = self._last_top()
        is_at_end = (place.block, place.line) >= (end.block, end.line)
        self._set_following(is_at_end)
        self.top = end if is_at_end else place

    def to_start(self) -> None:
        """Go to the first row."""
        self.top = RowPosition(0, 0)
        end = self._last_top()
        self._set_following(end == self.top)

    def to_end(self) -> None:
        """Go to the last row and follow new rows."""
        self._set_following(True)

    def to_prompt(self, direction: int) -> bool:
        """Go to the user's message before (-1) or after (1) the top row; False if there is none."""
        index = self.top.block
        if direction < 0 and self.top.line > 1:
            index += 1
        index += direction
        while 0 <= index < len(self._entries):
            if isinstance(self._entries[index].block, UserMessage):
                self.top = RowPosition(index, int(self._entries[index].has_gap))
                end = self._last_top()
                is_at_end = (self.top.block, self.top.line) >= (end.block, end.line)
                self._set_following(is_at_end)
                return True
            index += direction
        return False

    def to_place(self, place: RowPosition) -> None:
        """Scroll to a row, if possible with a third of the height above it."""
        block = max(0, min(place.block, len(self._entries) - 1))
        if not self._entries:
            return
        self._set_following(False)
        self.top = RowPosition(block, max(0, min(place.line, self.height_of(block) - 1)))
        self.scroll(-(self.height_rows // 3))
        end = self._last_top()
        if (end.block, end.line) <= (self.top.block, self.top.line):
            self.top = end
            self._set_following(True)

    def thumb(self, height_rows: int) -> tuple[int, int]:
        """Return start and length of a scrollbar's thumb, from estimated heights.

        Sums are cached, so that the cost does not grow with the conversation.
        """
        sums = self._sums
        for entry in self._entries[len(sums) - 1 :]:
            sums.append(sums[-1] + entry.rows_before_layout)
        total = max(sums[-1], 1)
        if not self._entries:
            return 0, height_rows
        height = self._entries[self.top.block].rows_before_layout
        rows_above = sums[self.top.block] + min(self.top.line, height)
        length = max(1, min(height_rows, height_rows * self.height_rows // total))
        start = rows_above * height_rows // total
        return min(start, height_rows - length), length

    def height_of(self, index: int) -> int:
        """Return the height of a block in rows, including the gap before it."""
        return self.layout_of(index).height + self._entries[index].has_gap

    def _known_height(self, entry: ViewportEntry) -> int:
        if entry.layout is None:
            return entry.rows_before_layout
        return entry.layout.height + entry.has_gap

    def _set_following(self, is_following: bool) -> None:
        self.is_following = is_following
        if is_following:
            self.unseen_blocks = 0

    def layout_of(self, index: int) -> Layout:
        """Return the layout of a block, which is made if there is none."""
        entry = self._entries[index]
        if entry.layout is None:
            entry.layout = make_layout(
                entry.block,
                self._width_of(entry.block),
                is_detailed=self.is_detailed or entry.is_open,
                level=self._level(entry.block),
                highlighter=self.highlighter,
                images=self.images,
            )
            entry.generation = self.highlighter.generation
        return entry.layout

    def _last_top(self) -> RowPosition:
        """Return the position of the top row when the last row is at the bottom."""
        remaining_rows = self.height_rows
        for index in range(len(self._entries) - 1, -1, -1):
            height = self.height_of(index)
            if height >= remaining_rows:
                return RowPosition(index, height - remaining_rows)
            remaining_rows -= height
        return RowPosition(0, 0)

    def _next(self, place: RowPosition) -> RowPosition | None:
        if place.line + 1 < self.height_of(place.block):
            return RowPosition(place.block, place.line + 1)
        block = place.block + 1
        while block < len(self._entries):
            if self.height_of(block):
                return RowPosition(block, 0)
            block += 1
        return None

    def _previous(self, place: RowPosition) -> RowPosition | None:
        if place.line > 0:
            return RowPosition(place.block, place.line - 1)
        block = place.block - 1
        while block >= 0:
            height = self.height_of(block)
            if height:
                return RowPosition(block, height - 1)
            block -= 1
        return None

    def _clamp(self) -> None:
        if not self._entries:
            self.top = RowPosition(0, 0)
            self._set_following(True)
            return
        if self.is_following:
            return
        block = min(self.top.block, len(self._entries) - 1)
        line = min(self.top.line, max(0, self.height_of(block) - 1))
        self.top = RowPosition(block, line)
        end = self._last_top()
        if (end.block, end.line) < (block, line):
            self.top = end

    def _cached_range(self) -> tuple[int, int]:
        return (
            max(0, self.top.block - _CACHED_LAYOUTS),
            min(len(self._entries), self.top.block + _CACHED_LAYOUTS),
        )

    def _forget_layouts(self) -> None:
        self._sums = [0]
        for entry in self._entries:
            if entry.layout is not None:
                entry.layout = None
                entry.rows_before_layout = self._estimate(entry.block) + entry.has_gap

    def _drop_far_layouts(self) -> None:
        """Drop the layouts of a few blocks far from the screen, to limit memory."""
        first, end = self._cached_range()
        for index in (first - 1, first - 2, end, end + 1):
            if 0 <= index < len(self._entries) - 1:
                entry = self._entries[index]
                if entry.layout is not None:
                    entry.rows_before_layout = self._known_height(entry)
                    entry.layout = None

    def _estimate(self, block: Block) -> int:
        width = max(10, self.width_cells - 4)
        match block:
            case UserMessage() | AssistantText():
                return 1 + block.text.count("\n") + len(block.text) // width
            case ThinkingText() if self.is_detailed:
                return 2 + block.text.count("\n") + len(block.text) // width
            case ToolCard() if self.is_detailed:
                return 2 + block.result.count("\n")
            case ToolCard():
                return 3
            case _:
                return 1
