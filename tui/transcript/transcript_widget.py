"""The transcript: one widget that paints the visible rows of all blocks and nothing else.

It scrolls by itself (no virtual size, so that growing text never causes a layout of the screen),
follows the end until the user scrolls up, and copies logical lines, without gutters and wraps.
Next: `viewport` (what is visible), `selection` (what is marked).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final, cast

from msgspec.structs import replace
from textual import events
from textual.message import Message
from textual.strip import Strip

from themes.theme import Role
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.listener import Listens
from tui.screen.direct_rows import DrawsRows
from tui.text.highlight import Highlighter
from tui.text.styled_rows import BLANK, FAINT, MUTED, Ink, Row
from tui.text.wrap import clip, runs_width
from tui.theme.theme_palette import Palette
from tui.transcript.blocks import Block, UserMessage
from tui.transcript.inline.inline_transcript import InlineTranscript
from tui.transcript.search_marks import row_with_hits
from tui.transcript.tool_card import ToolLevel
from tui.transcript.transcript_selection import (
    Step,
    TranscriptSelection,
    marked_row,
    marked_text,
    word_at,
)
from tui.transcript.viewport import RowPosition, Viewport
from tui.widgets.rows_widget import PaletteHost
from tui.widgets.strip_cache import StripCache

WHEEL_ROWS: Final = 3
_DOUBLE_CLICK_S: Final = 0.4
NEAR_START_BLOCKS: Final = 20


class TranscriptWidget(Listens, DrawsRows):
    """All blocks of the conversation."""

    ALLOW_SELECT = False
    can_focus = False
    DEFAULT_CSS = """
    TranscriptWidget { width: 1fr; height: 1fr; min-height: 0; }
    """

    class Copied(Message):
        """The user marked text; it is on the clipboard."""

        def __init__(self, text: str) -> None:
            """Carry the text."""
            self.text = text
            super().__init__()

    def __init__(self, highlighter: Highlighter, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self.viewport = Viewport(highlighter)
        self._painted: list[tuple[RowPosition | None, Row]] = []
        self._painted_size = (0, 0)
        self.added_before = 0
        """How many blocks ever came before those that were there: places move by as many."""
        self.near_start: Callable[[], None] = lambda: None
        """Called while a block near the first one is visible: there may be more."""
        self._strips = StripCache()
        self.marker = TranscriptMarker(self)
        self._needle = ""
        self._hit: RowPosition | None = None
        self._header: Sequence[Row] = ()
        self._reading_cells = 0
        self._pins_prompt = False
        self.inline: InlineTranscript | None = None
        """Takes rows that are finished, in the inline mode."""

    @property
    def palette(self) -> Palette:
        """The app's palette."""
        return cast("PaletteHost", self.app).palette

    # What is shown

    def set_header(self, rows: Sequence[Row]) -> None:
        """Show rows while there are no blocks yet."""
        self._header = rows
        if self.inline is not None:
            self.inline.set_header(rows)
        self.update_rows()

    def show(self, first: int, blocks: Sequence[Block]) -> None:
        """Take the blocks; those before `first` are as they were."""
        self.viewport.replace_from(first, blocks)
        if self.inline is not None:
            self.inline.scrollback.replaced_from(first)
        selection = self.marker.selection
        if selection is not None and not selection.is_within(len(blocks)):
            self.marker.selection = None
        self.update_rows()

    def add_before(self, blocks: Sequence[Block]) -> None:
        """Take blocks that come before all others; the rows in view stay where they are."""
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
        """Take how wide text may be, 0 for the whole width, and whether the prompt stays in view
        while its answer is scrolled."""
        self._reading_cells, self._pins_prompt = width_cells, pins_prompt
        self._painted_size = (0, 0)
        self.update_rows()

    def toggle_focus(self) -> bool:
        """Show calls by their line alone, or more of them again; whether it is so now."""
        is_focused = self.viewport.base_level == "short"
        self.viewport.set_base_level("line" if is_focused else "short")
        self.update_rows()
        return is_focused

    def set_levels(self, levels: Mapping[str, ToolLevel]) -> None:
        """Take how much is shown of the calls of each tool while they are folded."""
        self.viewport.set_levels(levels)
        self.update_rows()

    def highlights_ready(self) -> None:
        """Paint again what was shown without colours."""
        self.viewport.refresh_highlights()
        self.update_rows()

    def code_changed(self) -> None:
        """Show code as the highlighter has it now."""
        self.viewport.remake()
        self.update_rows()

    def palette_changed(self) -> None:
        """Paint everything in the new colours."""
        self._painted = []
        self.update_rows()

    def update_rows(self) -> None:
        """Paint the rows that differ from what was painted."""
        if not self.is_mounted:
            return
        if self.inline is not None and self.inline.fit_height(self.app.size.height):
            # The layout paints everything.
            self._painted = []
            self.refresh()
            return
        if not self.size:
            return
        self._take_size()
        before, now = self._painted, self._screen_rows()
        self._painted = now
        if not self.viewport.is_following and self.viewport.top.block < NEAR_START_BLOCKS:
            self.near_start()
        if not before or not now:
            self.refresh()
            return
        # Rows that are there no more, or not yet, are blank.
        pairs = zip_longest(before, now, fillvalue=(None, BLANK))
        changed = [
            y for y, (old, new) in enumerate(pairs) if old[1] is not new[1] and old[1] != new[1]
        ]
        if self.inline is not None and before[0][0] != now[0][0]:
            # Equal or not, it is another row, before which rows may be finished.
            changed = sorted({0, *changed})
        self.repaint_rows(changed)

    # Scrolling

    def scroll_rows(self, rows: int) -> None:
        """Move by rows; a positive number goes down."""
        self.viewport.scroll(rows)
        self.update_rows()

    def scroll_pages(self, pages: float) -> None:
        """Move by parts of the height."""
        rows = max(1, int(abs(pages) * self.size.height) - (1 if abs(pages) >= 1 else 0))
        self.scroll_rows(rows if pages > 0 else -rows)

    def to_start(self) -> None:
        """Go to the first row."""
        self.viewport.to_start()
        self.update_rows()

    def to_end(self) -> None:
        """Go to the last row and follow."""
        self.viewport.to_end()
        self.update_rows()

    def to_prompt(self, direction: int) -> bool:
        """Go to the previous or next message of the user; False where there is none."""
        has_moved = self.viewport.to_prompt(direction)
        self.update_rows()
        return has_moved

    def to_hit(self, place: RowPosition) -> None:
        """Show a row where something was found, and set it apart from the others.

        A third of the height below the top, where there is that much above it.
        """
        self._hit = place
        self.viewport.to_place(place)
        self.update_rows()

    def set_search(self, needle: str) -> None:
        """Set occurrences of a casefolded text apart; an empty one ends that."""
        self._needle = needle
        self._hit = None
        self.update_rows()

    # Marking and copying

    @property
    def marked_text(self) -> str:
        """What the user has marked, as logical lines; empty when nothing is."""
        selection = self.marker.selection
        return marked_text(self.viewport, selection) if selection is not None else ""

    def whole_text(self) -> str:
        """Return everything for reading elsewhere, without laying it out."""
        from tui.transcript.export_text import transcript_text  # rarely wanted

        return transcript_text(entry.block for entry in self.viewport.entries)

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Receive mouse events."""
        kinds = (EventKind.MOUSE_DOWN, EventKind.MOUSE_MOVE, EventKind.MOUSE_UP)
        return [(Phase.BUBBLE, self.marker.on_pointer, kinds)]

    def on_wheel(self, event: RoutedEvent) -> None:
        """Scroll, wherever the pointer is that nothing else there scrolls."""
        match event.message:
            case events.MouseScrollUp():
                self.scroll_rows(-WHEEL_ROWS)
            case events.MouseScrollDown():
                self.scroll_rows(WHEEL_ROWS)
            case _:
                return
        event.claim()

    def position_at(self, y: int) -> RowPosition | None:
        """Return the position on a row of the screen, or the last one above; None without any."""
        if 0 <= y < len(self._painted):
            place = self._painted[y][0]
            if place is not None:
                return place
        places = [place for place, _ in self._painted if place is not None]
        return places[-1] if places else None

    # Painting

    def _on_resize(self, event: events.Resize) -> None:
        # The frame of the new layout was painted before this event came.
        if self._take_size():
            self.refresh()

    def _take_size(self) -> bool:
        """Lay out for the size that the widget has now; return whether that is another one."""
        width, height = self.size
        if (width, height) == self._painted_size:
            return False
        self._painted_size = (width, height)
        self.viewport.resize(min(width, self._reading_cells or width), height, width)
        if self.inline is not None:
            self.inline.scrollback.resized()
        self._painted = self._screen_rows()
        return True

    def render_line(self, y: int) -> Strip:
        """Paint one row."""
        return self.draw_rows((y,))[0]

    def draw_rows(self, rows: Collection[int]) -> list[Strip]:
        """Paint some rows."""
        self._take_size()
        if not self._painted:
            self._painted = self._screen_rows()
        if self.inline is not None and 0 in rows:
            self.inline.painted(self._painted[0][0] if self._painted else None)
        width, height = self._painted_size
        palette, limit = self.palette, 4 * max(1, height)
        lines = [self._painted[y][1] if y < len(self._painted) else BLANK for y in rows]
        return [self._strips.strip(line, width, palette, limit=limit) for line in lines]

    def _screen_rows(self) -> list[tuple[RowPosition | None, Row]]:
        height = self.size.height
        if not self.viewport.entries:
            return [(None, line) for line in self._header[:height]]
        rows: list[tuple[RowPosition | None, Row]] = []
        for place, line in self.viewport.visible():
            shown = line
            if self._needle:
                shown = row_with_hits(line, self._needle, is_current=place == self._hit)
            if self.marker.selection is not None:
                shown = marked_row(shown, place, self.marker.selection)
            rows.append((place, shown))
        if self._pins_prompt and rows and (prompt := self.viewport.pinned_prompt()) is not None:
            rows[0] = (rows[0][0], _pinned(prompt, self.size.width))
        if self.viewport.is_following or len(rows) < 2:
            return rows
        return _with_position(rows, self.viewport, self.size.width)


class TranscriptMarker:
    """The user's selection in the transcript: begun with the mouse, extended with it or by keys."""

    def __init__(self, widget: TranscriptWidget) -> None:
        """Begin without a selection; `widget` shows it."""
        self._widget = widget
        self.selection: TranscriptSelection | None = None
        """None for none; one that was begun may be empty."""
        self._pressed: RowPosition | None = None
        """Where the button went down, as long as a click there would unfold something."""
        self._pressed_at = (-1, -1)
        self._pressed_s = 0.0

    def extend(self, step: Step) -> None:
        """Select a cell or a row more, or fewer; scrolls where its end leaves the screen."""
        if self.selection is None:
            return
        viewport = self._widget.viewport
        extended = self.selection.stepped(step, viewport.visible())
        if extended is None and step in ("up", "down"):
            viewport.scroll(-1 if step == "up" else 1)
            extended = self.selection.stepped(step, viewport.visible())
        self.selection = extended or self.selection
        self._widget.update_rows()

    def clear(self) -> None:
        """Select nothing."""
        self.selection = None
        self._widget.update_rows()

    def on_pointer(self, event: RoutedEvent) -> None:
        """Begin, drag or end a selection."""
        is_open = self.selection is not None and self.selection.is_open
        match event.message:
            case events.MouseDown(button=1) as message:
                self._press(message)
            case events.MouseMove() as message if is_open and message.button:
                self._drag(message)
            case events.MouseMove() | events.MouseUp() if is_open:
                # A move without a button: it was released outside the window, or over a dialog.
                self._release()
            case _:
                return
        event.claim()

    def _press(self, event: events.MouseDown) -> None:
        widget = self._widget
        x, y = self._local(event)
        if y == widget.size.height - 1 and not widget.viewport.is_following:
            widget.to_end()
            return
        place = widget.position_at(y)
        # A click that ends a selection does nothing else.
        self._pressed = place if self.selection is None else None
        if place is not None and self._is_second_press(event):
            self._pressed = None
            left, right = word_at(widget.viewport.row(place), x)
            self.selection = TranscriptSelection(place, left, place, right, is_open=True)
            widget.capture_mouse()
            widget.update_rows()
            return
        self.selection = (
            TranscriptSelection(place, x, place, x, is_open=True) if place is not None else None
        )
        if self.selection is not None:
            widget.capture_mouse()
        widget.update_rows()

    def _is_second_press(self, event: events.MouseDown) -> bool:
        at = (int(event.screen_x), int(event.screen_y))
        is_second = at == self._pressed_at and event.time - self._pressed_s < _DOUBLE_CLICK_S
        self._pressed_at, self._pressed_s = at, event.time
        return is_second

    def _drag(self, event: events.MouseMove) -> None:
        if (int(event.screen_x), int(event.screen_y)) == self._pressed_at:
            # The pointer is where it was: a word that a second press marked stays marked.
            return
        widget = self._widget
        x, y = self._local(event)
        if y < 0:
            widget.viewport.scroll(-1)
        elif y >= widget.size.height:
            widget.viewport.scroll(1)
        place = widget.position_at(min(max(y, 0), widget.size.height - 1))
        if place is not None and self.selection is not None:
            self.selection = self.selection.to(place, max(0, x))
        widget.update_rows()

    def _release(self) -> None:
        widget = self._widget
        widget.release_mouse()
        if self.selection is None:
            return
        if self.selection.is_empty:
            self.selection = None
            if self._pressed is not None:
                widget.viewport.toggle(self._pressed)
        else:
            self.selection = self.selection.closed()
            if text := widget.marked_text:
                widget.app.copy_to_clipboard(text)
                widget.post_message(widget.Copied(text))
        widget.update_rows()

    def _local(self, event: events.MouseEvent) -> tuple[int, int]:
        region = self._widget.content_region
        return int(event.screen_x) - region.x, int(event.screen_y) - region.y


def _with_position(
    rows: list[tuple[RowPosition | None, Row]], viewport: Viewport, width: int
) -> list[tuple[RowPosition | None, Row]]:
    """Add scrollbar and hint, both only while the user reads further up."""
    start, length = viewport.thumb(len(rows))
    for y in range(start, min(start + length, len(rows))):
        place, line = rows[y]
        runs = line.runs
        if runs and runs[-1][0].endswith(" "):
            # Most rows that fill the width end so, and lose nothing that can be seen.
            runs = (*runs[:-1], (runs[-1][0][:-1], runs[-1][1]))
        runs = tuple(clip(runs, width - 1))
        filler = (" " * (width - 1 - runs_width(runs)), Ink(ground=line.fill))
        rows[y] = (place, replace(line, runs=(*runs, filler, ("▐", FAINT))))
    place, _ = rows[-1]
    rows[-1] = (place, _hint(viewport.unseen_blocks, width))
    return rows


def _pinned(prompt: UserMessage, width: int) -> Row:
    text = " ".join(prompt.text.split())
    runs = clip([(" ❯ ", Ink(Role.PERSON, Role.SURFACE)), (text, Ink(ground=Role.SURFACE))], width)
    return Row(tuple(runs), fill=Role.SURFACE, is_copied=False)


def _hint(unseen_blocks: int, width: int) -> Row:
    count = unseen_blocks
    news = f"{count} new message" + ("" if count == 1 else "s") if count else "Jump to the end"
    label, keys = f" ↓ {news} ", "ctrl+end "
    left = max(0, (width - len(label) - len(keys)) // 2)
    ground = Role.SURFACE_RAISED
    runs = (
        (" " * left, MUTED),
        (label, Ink(Role.ACCENT if count else Role.TEXT, ground)),
        (keys, Ink(Role.MUTED, ground)),
    )
    return Row(runs, is_copied=False)
