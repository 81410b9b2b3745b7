"""The prompt widget: grows with its text, edits like a shell, and shows the terminal's cursor.

The app handles keys that are actions (send, history, modes) first; the widget receives text and
readline keys. Next: `text_buffer`, `edit_layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import replace
from textual import events
from textual.geometry import Offset

from themes.theme import Role
from tui.editing.draft import Draft
from tui.editing.draft_selection import DraftSelection
from tui.editing.edit_keys import EDIT_KEYS
from tui.editing.edit_layout import EditLayout, EditRow, cursor_at, place_of
from tui.editing.text_buffer import TextBuffer
from tui.input.click_count import ClickCount
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.listener import Listens
from tui.prompt.prompt_rows import SIGN_CELLS, marked_row, rule, sign, text_row
from tui.prompt.prompt_vim import PromptVim
from tui.screen.width import text_width
from tui.text.styled_rows import Ink, Row
from tui.text.wrap import clip
from tui.widgets.rows_widget import RowsWidget

_PLACEHOLDERS: Final = (
    "What should I do?  / commands · @ files · ! shell · ? shortcuts",
    "What should I do?  / commands · ? shortcuts",
)
"""Placeholders of the empty prompt; the first one that fits is shown."""
_LOW_SCREEN_ROWS: Final = 10
"""On lower screens the rules are left out."""


class Composer(Listens, RowsWidget):
    """The prompt at the bottom of the screen."""

    can_focus = True
    DEFAULT_CSS = """
    Composer { height: auto; }
    """

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        on_paste: Callable[[str], bool] = lambda _: False,
        *,
        id: str | None = None,
    ) -> None:
        """Start empty; `on_change` is called at every change of the text, before the next key.

        `on_paste` receives pasted text first, and returns whether it has handled it.
        """
        super().__init__(id=id)
        self._on_change = on_change
        self._on_paste = on_paste
        self.buffer = TextBuffer()
        self._mark = DraftSelection(self.buffer)
        self.vim = PromptVim(self.buffer, self._text_changed, self.refresh_text)
        self.marker = PromptMarker(self, self._mark)
        self.shell_hint: Callable[[], str] = str
        """Returns the text of the upper rule while a shell command is typed."""
        self._ghost = ""
        self._mode_role = Role.FAINT
        self._note = ""
        self._first_shown = 0
        self._wanted_column: int | None = None
        self._layout = EditLayout()

    # Interface for other parts

    @property
    def prefix(self) -> str:
        """`!` for a shell command, `/` for a slash command, otherwise ""."""
        text = self.buffer.text
        return text[0] if text[:1] in ("!", "/") else ""

    def set_mode_role(self, role: Role) -> None:
        """Color the rules by the permission mode."""
        self._mode_role = role
        self.refresh_text()

    def set_note(self, note: str) -> None:
        """Show a short note in the upper rule: a stash, a search."""
        self._note = note
        self.refresh_text()

    def set_ghost(self, text: str) -> None:
        """Show a suggestion after the cursor at the text's end, which is not part of the text."""
        if text != self._ghost:
            self._ghost = text
            self.refresh_text()

    def take(self) -> Draft:
        """Clear the prompt and return its draft."""
        draft = self.buffer.clear()
        self.vim.reset()
        self._text_changed()
        return draft

    def load(self, draft: Draft) -> None:
        """Replace the text with a draft."""
        self.buffer.load(draft)
        self._text_changed()

    def insert(self, text: str) -> None:
        """Insert text at the cursor, replacing the selection."""
        self._mark.replaced_by(lambda buffer: buffer.insert(text))
        self._text_changed()

    def edit(self, change: Callable[[TextBuffer], object]) -> None:
        """Apply `change` to the buffer."""
        change(self.buffer)
        self._text_changed()

    @property
    def marked_text(self) -> str:
        """The selected text; "" without a selection."""
        part = self.vim.selection
        return self.buffer.piece(*part).text if part is not None else self._mark.text

    def move_row(self, step: int) -> bool:
        """Move the cursor up (-1) or down (1); return False at the first or last row."""
        rows = self._edit_rows(self.size.width)
        number, column = place_of(rows, self.buffer.cursor)
        target = number + step
        if not 0 <= target < len(rows):
            return False
        target_column = self._wanted_column if self._wanted_column is not None else column
        self.buffer.move_to(cursor_at(rows, target, target_column))
        self.vim.settle()
        self.refresh_text()
        self._wanted_column = target_column
        return True

    def refresh_text(self) -> None:
        """Redraw the text and the cursor."""
        self._wanted_column = None
        self.rows_changed()
        self._place_cursor()

    # Input

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Listen to events that no other listener claimed."""
        return [
            (Phase.BUBBLE, self._on_key_event, (EventKind.KEY,)),
            (Phase.BUBBLE, self._on_paste_event, (EventKind.PASTE,)),
            (
                Phase.BUBBLE,
                self.marker.on_pointer,
                (EventKind.MOUSE_DOWN, EventKind.MOUSE_MOVE, EventKind.MOUSE_UP),
            ),
        ]

    def _on_key_event(self, event: RoutedEvent) -> None:
        edit = EDIT_KEYS.get(event.key)
        if self._mark.press(event.key):
            self._text_changed()
        elif edit is not None:
            self.edit(edit)
        elif event.text:
            if self.vim.is_typing:
                self.insert(event.text)
        else:
            return
        event.claim()

    def _on_paste_event(self, event: RoutedEvent) -> None:
        event.claim()
        if not self._on_paste(event.text):
            self._mark.replaced_by(lambda buffer: buffer.paste(event.text))
            self._text_changed()

    def _text_changed(self) -> None:
        self.vim.settle()
        self.refresh_text()
        self._on_change()

    # Rows

    def _edit_rows(self, width_cells: int) -> Sequence[EditRow]:
        """Return the rows of the text in a prompt of this width, cached per text and width."""
        draft = self.buffer.draft
        return self._layout.rows(draft.text, width_cells - SIGN_CELLS - 1, draft.chips)

    def place_at(self, x: int, y: int) -> int:
        """Return the position in the text nearest to a cell of the screen."""
        region = self.content_region
        rows = self._edit_rows(self.size.width)
        number = y - region.y - _rule_rows(self.app.size.height) + self._first_shown
        return cursor_at(
            rows, max(0, min(number, len(rows) - 1)), max(0, x - region.x - SIGN_CELLS)
        )

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the rows of the text, between two rules."""
        draft = self.buffer.draft
        lines = self._edit_rows(width_cells)
        number, _ = place_of(lines, draft.cursor)
        room = max(1, min(14, self.app.size.height // 3))
        self._first_shown = _window(self._first_shown, number, len(lines), room)
        visible_lines = lines[self._first_shown : self._first_shown + room]
        rows = [
            self._text_row(line, position == 0 and self._first_shown == 0, width_cells)
            for position, line in enumerate(visible_lines)
        ]
        if self._ghost and rows and visible_lines[-1].end == len(draft.text) == draft.cursor:
            rows[-1] = _with_ghost(rows[-1], self._ghost, width_cells)
        if draft.text == "":
            room = width_cells - SIGN_CELLS - 1
            text = next(
                (one for one in _PLACEHOLDERS if text_width(one) <= room), _PLACEHOLDERS[-1]
            )
            placeholder = clip([(text, Ink(Role.MUTED))], room)
            rows = [Row((sign(self.prefix), *placeholder))]
        if not _rule_rows(self.app.size.height):
            return rows
        hidden = len(lines) - len(visible_lines)
        more = f" {hidden} more {'line' if hidden == 1 else 'lines'} " if hidden > 0 else ""
        ink = Ink(Role.SHELL if self.prefix == "!" else self._mode_role)
        hint = self.shell_hint() if self.prefix == "!" else ""
        top = rule(width_cells, ink, self._note or hint)
        bottom = rule(width_cells, ink, more, self.vim.label)
        return [top, *rows, bottom]

    def _text_row(self, line: EditRow, is_first: bool, width: int) -> Row:
        draft, prefix = self.buffer.draft, self.prefix
        part = self.vim.selection or self._mark.part
        if part is not None:
            return marked_row(line, draft, prefix, part, is_first=is_first, width=width)
        return text_row(line, draft, prefix, is_first=is_first, width=width)

    # The cursor

    def _place_cursor(self) -> None:
        if not self.is_mounted or not self.size or not self.has_focus:
            return
        number, column = place_of(self._edit_rows(self.size.width), self.buffer.cursor)
        self.place_caret(
            Offset(
                SIGN_CELLS + column, _rule_rows(self.app.size.height) + number - self._first_shown
            )
        )

    def _on_focus(self, event: events.Focus) -> None:
        self._place_cursor()

    def _on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._place_cursor)


def _window(first: int, cursor_row: int, count: int, room: int) -> int:
    """Return the first row to show, so that the cursor's row is visible."""
    first = max(cursor_row - room + 1, min(first, cursor_row))
    return max(0, min(first, count - room))


class PromptMarker:
    """Selects text in the prompt, by keys and with the mouse."""

    def __init__(self, composer: Composer, selection: DraftSelection) -> None:
        """`composer` shows the selection."""
        self._composer = composer
        self._selection = selection
        self._is_dragging = False
        self._clicks = ClickCount()

    def extend(self, move: Callable[[TextBuffer], object]) -> None:
        """Apply `move`, extending the selection to the new cursor."""
        composer = self._composer
        self._selection.extend(lambda: move(composer.buffer))
        composer.vim.settle()
        composer.refresh_text()

    def extend_by_row(self, step: int) -> None:
        """Extend the selection to the row above (-1) or below (1), or to the end of the text."""
        composer = self._composer

        def move() -> None:
            if not composer.move_row(step):
                move_on = composer.buffer.start if step < 0 else composer.buffer.end
                move_on()

        self._selection.extend(move)
        composer.refresh_text()

    def drop(self) -> None:
        """Clear the selection."""
        self._selection.drop()
        self._composer.refresh_text()

    def on_pointer(self, event: RoutedEvent) -> None:
        """Place the cursor with the mouse, and select while the button is held."""
        composer = self._composer
        match event.message:
            case events.MouseDown(button=1) as message:
                self._press(_mouse_place(composer, message), self._clicks.press(message))
                self._is_dragging = True
                composer.capture_mouse()
            case events.MouseMove(button=0) | events.MouseUp() if self._is_dragging:
                # A move without a button: it was released outside the window or over a dialog.
                self._is_dragging = False
                composer.release_mouse()
            case events.MouseMove() as message if self._is_dragging:
                if self._clicks.count > 1 and self._clicks.is_in_cell(message):
                    # The pointer has not moved: keep the word or line that was selected.
                    return
                place = _mouse_place(composer, message)
                self._selection.extend(lambda: composer.buffer.move_to(place))
            case _:
                return
        composer.vim.settle()
        composer.refresh_text()
        event.claim()

    def _press(self, place: int, count: int) -> None:
        match count:
            case 1:
                self._composer.buffer.move_to(place)
            case 2:
                self._selection.mark_word(place)
            case _:
                self._selection.mark_line(place)


def insert_image(buffer: TextBuffer, mention: str) -> None:
    """Insert a chip for an image at the cursor; the mention of its file is sent for it."""
    text_before = buffer.text[: buffer.cursor]
    if text_before and not text_before[-1].isspace():
        buffer.insert(" ")
    buffer.insert_chip(mention + " ", "image")


def leave_shell(buffer: TextBuffer) -> None:
    """Turn a shell command into a prompt by removing the `!`."""
    cursor = buffer.cursor
    buffer.put(0, 1)
    buffer.move_to(cursor - 1)


def _mouse_place(composer: Composer, message: events.MouseEvent) -> int:
    return composer.place_at(int(message.screen_x), int(message.screen_y))


def _with_ghost(line: Row, ghost: str, width_cells: int) -> Row:
    # Rows are shown without trailing spaces.
    gap = "" if line.text.endswith(" ") else " "
    runs = clip([*line.runs, (gap + ghost, Ink(Role.MUTED))], width_cells - 1)
    return replace(line, runs=tuple(runs))


def _rule_rows(screen_rows: int) -> int:
    return 0 if screen_rows < _LOW_SCREEN_ROWS else 1
