"""The transcript: one widget that paints only the visible rows of all blocks.

It scrolls by itself, without a virtual size, so that growing text never causes a layout of the
screen. It follows the end until the user scrolls up, and copies logical lines, without gutters and
wraps. Next: `viewport` (what is visible), `selecting` (selections).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final, cast

from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from agent.display import DiffDisplay
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.listener import Listens
from tui.screen.direct_rows import DrawsRows
from tui.screen.width import text_width
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, Row
from tui.theme.theme_palette import Palette
from tui.transcript.blocks import Block, EndLine, ToolCard
from tui.transcript.diff.diff_view import diff_counts
from tui.transcript.inline.inline_transcript import InlineTranscript
from tui.transcript.position_rows import pinned_row, with_position
from tui.transcript.search_marks import row_with_hits
from tui.transcript.selecting.transcript_marker import TranscriptMarker
from tui.transcript.selecting.transcript_selection import marked_row, marked_text
from tui.transcript.tool_card import ToolLevel
from tui.transcript.viewport import RowPosition, Viewport
from tui.widgets.rows_widget import PaletteHost
from tui.widgets.strip_cache import StripCache

WHEEL_ROWS: Final = 3
NEAR_START_BLOCKS: Final = 20


class TranscriptWidget(Listens, DrawsRows):
    """All blocks of the conversation."""

    ALLOW_SELECT = False
    can_focus = False
    DEFAULT_CSS = """
    TranscriptWidget { width: 1fr; height: 1fr; min-height: 0; }
    """

    class Copied(Message):
        """The user has selected text, which was copied to the clipboard."""

        def __init__(self, text: str) -> None:
            """`text` is the copied text."""
            self.text = text
            super().__init__()

    def __init__(self, highlighter: Highlighter, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self.viewport = Viewport(highlighter)
        self._painted_rows: list[tuple[RowPosition | None, Row]] = []
        self._painted_size = (0, 0)
        self.added_before = 0
        """Total number of blocks that were added at the front, by which positions have moved."""
        self.changes_pressed: Callable[[], object] = lambda: None
        """Called when the line with a turn's changes is clicked."""
        self.near_start: Callable[[], None] = lambda: None
        """Called while a block near the first one is visible, to load earlier ones."""
        self._strips = StripCache()
        self.marker = TranscriptMarker(self, partial(_copy, self), partial(_press, self))
        self._needle = ""
        self._hit: RowPosition | None = None
        self._header: Sequence[Row] = ()
        self._reading_cells = 0
        self._pins_prompt = False
        self.inline: InlineTranscript | None = None
        """Takes finished rows, in the inline mode; otherwise None."""

    @property
    def palette(self) -> Palette:
        """The app's palette."""
        return cast("PaletteHost", self.app).palette

    # Content

    def set_header(self, rows: Sequence[Row]) -> None:
        """Set the rows that are shown while there are no blocks."""
        self._header = rows
        if self.inline is not None:
            self.inline.set_header(rows)
        self.update_rows()

    def show(self, first: int, blocks: Sequence[Block]) -> None:
        """Show the blocks; those before `first` are unchanged."""
        self.viewport.replace_from(first, blocks)
        if self.inline is not None:
            self.inline.scrollback.replaced_from(first)
        selection = self.marker.selection
        if selection is not None and not selection.is_within(len(blocks)):
            self.marker.selection = None
        self.update_rows()

    def add_before(self, blocks: Sequence[Block]) -> None:
        """Add blocks at the front; visible rows do not move."""
        self.marker.selection = None
        if self._hit is not None:
            self._hit = RowPosition(self._hit.block + len(blocks), self._hit.line)
        self.added_before += len(blocks)
        self.viewport.add_before(blocks)
        if self.inline is not None:
            self.inline.scrollback.added_before(len(blocks))

    def set_detailed(self, is_detailed: bool) -> None:
        """Unfold or fold everything."""
        self.marker.selection = None
        self.viewport.set_detailed(is_detailed)
        self.update_rows()

    def set_reading(self, width_cells: int, *, pins_prompt: bool) -> None:
        """Set the maximum width of text (0: the whole width), and whether the prompt stays visible
        while its answer is scrolled."""
        self._reading_cells, self._pins_prompt = width_cells, pins_prompt
        self._painted_size = (0, 0)
        self.update_rows()

    def toggle_focus(self) -> bool:
        """Switch between one line per call and more detail; return whether it is one line now."""
        is_focused = self.viewport.base_level == "short"
        self.viewport.set_base_level("line" if is_focused else "short")
        self.update_rows()
        return is_focused

    def set_levels(self, levels: Mapping[str, ToolLevel]) -> None:
        """Set the level of detail of folded calls, by tool."""
        self.viewport.set_levels(levels)
        self.update_rows()

    def highlights_ready(self) -> None:
        """Repaint blocks whose highlighting has become ready."""
        self.viewport.refresh_highlights()
        self.update_rows()

    def code_changed(self) -> None:
        """Lay out everything again, because the highlighter or widths have changed."""
        self.viewport.remake()
        self.update_rows()

    def palette_changed(self) -> None:
        """Repaint everything in the new colors."""
        self._painted_rows = []
        self.update_rows()

    def update_rows(self) -> None:
        """Repaint the rows that differ from the painted ones."""
        if not self.is_mounted:
            return
        if self.inline is not None and self.inline.fit_height(self.app.size.height):
            # The pending layout paints everything.
            self._painted_rows = []
            self.refresh()
            return
        size = self.size
        if not size:
            return
        self._take_size(size)
        old_rows, now = self._painted_rows, self._screen_rows(size)
        self._painted_rows = now
        if not self.viewport.is_following and self.viewport.top.block < NEAR_START_BLOCKS:
            self.near_start()
        if not old_rows or not now:
            self.refresh()
            return
        # Missing rows on either side are blank.
        pairs = zip_longest(old_rows, now, fillvalue=(None, BLANK))
        changed_rows = [
            y for y, (old, new) in enumerate(pairs) if old[1] is not new[1] and old[1] != new[1]
        ]
        if self.inline is not None and old_rows[0][0] != now[0][0]:
            # The first row is another one, even if it looks the same: rows before it may be final.
            changed_rows = sorted({0, *changed_rows})
        self.repaint_rows(changed_rows)

    # Scrolling

    def scroll_rows(self, rows: int) -> None:
        """Scroll by rows; a positive number scrolls down."""
        self.viewport.scroll(rows)
        self.update_rows()

    def scroll_pages(self, pages: float) -> None:
        """Scroll by a number of pages, which may be a fraction."""
        rows = max(1, int(abs(pages) * self.size.height) - (1 if abs(pages) >= 1 else 0))
        self.scroll_rows(rows if pages > 0 else -rows)

    def to_start(self) -> None:
        """Go to the first row."""
        self.viewport.to_start()
        self.update_rows()

    def to_end(self) -> None:
        """Go to the last row and follow new rows."""
        self.viewport.to_end()
        self.update_rows()

    def to_prompt(self, direction: int) -> bool:
        """Go to the previous or next message of the user; False if there is none."""
        has_moved = self.viewport.to_prompt(direction)
        self.update_rows()
        return has_moved

    def to_hit(self, place: RowPosition) -> None:
        """Show a row with a hit, and highlight it.

        It is placed a third of the height below the top, if there are enough rows above it.
        """
        self._hit = place
        self.viewport.to_place(place)
        self.update_rows()

    def set_search(self, needle: str) -> None:
        """Highlight occurrences of a casefolded text; "" ends that."""
        self._needle = needle
        self._hit = None
        self.update_rows()

    # Selecting and copying

    @property
    def marked_text(self) -> str:
        """The selected text, as logical lines; "" without a selection."""
        selection = self.marker.selection
        return marked_text(self.viewport, selection) if selection is not None else ""

    def whole_text(self) -> str:
        """Return the whole transcript as text, without laying it out."""
        from tui.transcript.export_text import transcript_text  # rarely wanted

        return transcript_text(entry.block for entry in self.viewport.entries)

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Listen to the mouse."""
        kinds = (EventKind.MOUSE_DOWN, EventKind.MOUSE_MOVE, EventKind.MOUSE_UP)
        return [(Phase.BUBBLE, self.marker.on_pointer, kinds)]

    def on_wheel(self, event: RoutedEvent) -> None:
        """Scroll, unless the wheel event was claimed by what is under the pointer."""
        match event.message:
            case events.MouseScrollUp():
                self.scroll_rows(-WHEEL_ROWS)
            case events.MouseScrollDown():
                self.scroll_rows(WHEEL_ROWS)
            case _:
                return
        event.claim()

    def position_at(self, y: int) -> RowPosition | None:
        """Return the position at a row of the screen, or else the last one; None without rows."""
        if 0 <= y < len(self._painted_rows):
            place = self._painted_rows[y][0]
            if place is not None:
                return place
        places = [place for place, _ in self._painted_rows if place is not None]
        return places[-1] if places else None

    # Painting

    def _on_resize(self, event: events.Resize) -> None:
        # The frame of the new layout was painted before this event arrived.
        if self._take_size(self.size):
            self.refresh()

    def _take_size(self, size: Size) -> bool:
        """Lay out for the widget's size; return whether it has changed."""
        width, height = size
        if (width, height) == self._painted_size:
            return False
        self._painted_size = (width, height)
        self.viewport.resize(min(width, self._reading_cells or width), height, width)
        if self.inline is not None:
            self.inline.scrollback.handle_resize()
        self._painted_rows = self._screen_rows(size)
        return True

    def render_line(self, y: int) -> Strip:
        """Paint one row."""
        return self.draw_rows((y,))[0]

    def draw_rows(self, rows: Collection[int]) -> list[Strip]:
        """Paint some rows."""
        size = self.size
        self._take_size(size)
        if not self._painted_rows:
            self._painted_rows = self._screen_rows(size)
        if self.inline is not None and 0 in rows:
            self.inline.record_paint(self._painted_rows[0][0] if self._painted_rows else None)
        width, height = self._painted_size
        palette, limit = self.palette, 4 * max(1, height)
        lines = [self._painted_rows[y][1] if y < len(self._painted_rows) else BLANK for y in rows]
        return [self._strips.strip(line, width, palette, limit=limit) for line in lines]

    def _screen_rows(self, size: Size) -> list[tuple[RowPosition | None, Row]]:
        width, height = size
        if not self.viewport.entries:
            return [(None, line) for line in self._header[:height]]
        rows: list[tuple[RowPosition | None, Row]] = []
        for place, line in self.viewport.visible():
            visible_row = line
            if self._needle:
                visible_row = row_with_hits(line, self._needle, is_current=place == self._hit)
            if self.marker.selection is not None:
                visible_row = marked_row(visible_row, place, self.marker.selection)
            rows.append((place, visible_row))
        if self._pins_prompt and rows and (prompt := self.viewport.pinned_prompt()) is not None:
            rows[0] = (rows[0][0], pinned_row(prompt, width))
        if self.viewport.is_following or len(rows) < 2:
            return rows
        return with_position(rows, self.viewport, width)


def _press(widget: TranscriptWidget, place: RowPosition, x: int) -> None:
    """Handle a click on a row: open a turn's changes, or unfold a block."""
    block = widget.viewport.entries[place.block].block
    is_about_changes = isinstance(block, EndLine) and block.has_changes
    if is_about_changes or _is_on_counts(block, widget.viewport.row(place).text, x):
        widget.changes_pressed()
    else:
        widget.viewport.toggle(place)


def _is_on_counts(block: Block, text: str, x: int) -> bool:
    """Whether a cell of a card's first row belongs to the count of its changed lines."""
    if not (isinstance(block, ToolCard) and isinstance(block.display, DiffDisplay)):
        return False
    counts = "".join(text for text, _ in diff_counts(block.display))
    first, _, rest = text.rpartition(counts)
    begin = text_width(first)
    return block.name in first and not rest.strip() and begin <= x < begin + text_width(counts)


def _copy(widget: TranscriptWidget, text: str) -> None:
    """Copy selected text to the clipboard."""
    widget.app.copy_to_clipboard(text)
    widget.post_message(widget.Copied(text))
