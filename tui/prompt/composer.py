"""The prompt: grows with its text, edits like a shell, and shows the terminal's own cursor.

Keys that are actions (send, history, modes) are resolved by the app before they come here; what
arrives is text and readline editing. Next: `text_buffer`, `edit_layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace
from textual import events
from textual.geometry import Offset

from themes.theme import Role
from tui.editing.draft import Draft
from tui.editing.draft_selection import DraftSelection
from tui.editing.edit_keys import EDIT_KEYS
from tui.editing.edit_layout import EditLayout, EditRow, cursor_at, place_of
from tui.editing.text_buffer import TextBuffer
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.listener import Listens
from tui.prompt.prompt_rows import SIGN_CELLS, marked_row, rule, sign, text_row
from tui.text.styled_rows import Ink, Row
from tui.text.wrap import clip
from tui.widgets.rows_widget import RowsWidget

if TYPE_CHECKING:
    from tui.editing.vim.keys import KeyUse, VimKeys

PLACEHOLDER: Final = "Ask for something · / commands · @ files · ! shell · ? keys"
_LOW_SCREEN_ROWS: Final = 10
"""Screens lower than this have no rows to spare for rules."""


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
        """Start empty; `on_change` hears of every change of the text, before the next key.

        `on_paste` is asked first, and returns whether the pasted text was for it.
        """
        super().__init__(id=id)
        self._on_change = on_change
        self._on_paste = on_paste
        self.buffer = TextBuffer()
        self._mark = DraftSelection(self.buffer)
        self._is_dragging = False
        self.placeholder = PLACEHOLDER
        self.shell_hint: Callable[[], str] = str
        """Gives what the upper rule says while a shell command is typed."""
        self._ghost = ""
        self._mode_role = Role.FAINT
        self._note = ""
        self._first_shown = 0
        self._wanted_column: int | None = None
        self._layout = EditLayout()
        self._vim: VimKeys | None = None

    # What others do with it

    @property
    def prefix(self) -> str:
        """`!` for a shell command, `/` for a command of ours, else empty."""
        text = self.buffer.text
        return text[0] if text[:1] in ("!", "/") else ""

    def set_mode_role(self, role: Role) -> None:
        """Colour the rules by the permission mode."""
        self._mode_role = role
        self.refresh_text()

    def set_note(self, note: str) -> None:
        """Show a short note in the upper rule: a stash, a search."""
        self._note = note
        self.refresh_text()

    def set_ghost(self, text: str) -> None:
        """Show what could be typed behind the cursor at the text's end; it is no part of it."""
        if text != self._ghost:
            self._ghost = text
            self.refresh_text()

    def use_vim(self, is_on: bool, remaps: Mapping[str, str] | None = None) -> None:
        """Edit with vim's keys, or with readline's alone."""
        if is_on:
            from tui.editing.vim.keys import VimKeys  # for those who ask for it

            self._vim = VimKeys(self.buffer, remaps=remaps)
        else:
            self._vim = None
        self.refresh_text()

    @property
    def vim_mode(self) -> str:
        """The mode of vim's keys, such as `NORMAL`; empty without them."""
        return self._vim.mode.value if self._vim is not None else ""

    @property
    def is_typing(self) -> bool:
        """Whether letters are typed: not in vim's normal and visual modes."""
        return self._vim is None or self._vim.is_typing

    def press_vim(self, key: str, text: str) -> KeyUse:
        """Let vim's keys have a key before actions do; `passed` when it is not theirs."""
        if self._vim is None:
            return "passed"
        before, mode = self.buffer.draft, self._vim.mode
        use = self._vim.press(key, text)
        if self.buffer.text != before.text:
            self._text_changed()
        elif use == "taken" or self._vim.mode is not mode:
            self.refresh_text()
        return use

    def take(self) -> Draft:
        """Empty the prompt and return what it held."""
        draft = self.buffer.clear()
        if self._vim is not None:
            self._vim.reset()
        self._text_changed()
        return draft

    def load(self, draft: Draft) -> None:
        """Put a draft in place of the text."""
        self.buffer.load(draft)
        self._text_changed()

    def insert(self, text: str) -> None:
        """Type text at the cursor, in place of what is marked."""
        self._mark.replaced_by(lambda buffer: buffer.insert(text))
        self._text_changed()

    def insert_picture(self, mention: str) -> None:
        """Put a picture's label at the cursor; the mention of its file is sent in its place."""
        before = self.buffer.text[: self.buffer.cursor]
        if before and not before[-1].isspace():
            self.buffer.insert(" ")
        self.buffer.insert_chip(mention + " ", "image")
        self._text_changed()

    def edit(self, change: Callable[[TextBuffer], object]) -> None:
        """Apply a change of the buffer."""
        change(self.buffer)
        self._text_changed()

    @property
    def marked_text(self) -> str:
        """What the user has marked; empty when nothing is."""
        part = self._vim.selection if self._vim is not None else None
        return self.buffer.piece(*part).text if part is not None else self._mark.text

    def leave_shell(self) -> bool:
        """Make what was typed after `!` a prompt; False when it is none of the shell's."""
        if self.prefix != "!":
            return False
        at = self.buffer.cursor
        self.buffer.put(0, 1)
        self.buffer.move_to(at - 1)
        self._text_changed()
        return True

    def extend_mark(self, move: Callable[[TextBuffer], object]) -> None:
        """Make a move that marks what it passes, or goes on marking."""
        self._mark.extend(lambda: move(self.buffer))
        self._settle()
        self.refresh_text()

    def extend_mark_by_row(self, step: int) -> None:
        """Mark up to the row above (-1) or below (1); at the last one up to its end."""

        def move() -> None:
            if not self.move_row(step):
                move_on = self.buffer.start if step < 0 else self.buffer.end
                move_on()

        self._mark.extend(move)
        self.refresh_text()

    def drop_mark(self) -> None:
        """Mark nothing."""
        self._mark.drop()
        self.refresh_text()

    def move_row(self, step: int) -> bool:
        """Move the cursor up (-1) or down (1); return False at the first or last row."""
        rows = self._edit_rows()
        number, column = place_of(rows, self.buffer.cursor)
        target = number + step
        if not 0 <= target < len(rows):
            return False
        wanted = self._wanted_column if self._wanted_column is not None else column
        self.buffer.move_to(cursor_at(rows, target, wanted))
        self._settle()
        self.refresh_text()
        self._wanted_column = wanted
        return True

    def refresh_text(self) -> None:
        """Show the text and the cursor as they are."""
        self._wanted_column = None
        self.rows_changed()
        self._place_cursor()

    # Input

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Hear what nobody claimed before."""
        return [
            (Phase.BUBBLE, self._on_key_event, (EventKind.KEY,)),
            (Phase.BUBBLE, self._on_paste_event, (EventKind.PASTE,)),
            (
                Phase.BUBBLE,
                self._on_pointer,
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
            if self.is_typing:
                self.insert(event.text)
        else:
            return
        event.claim()

    def _on_paste_event(self, event: RoutedEvent) -> None:
        event.claim()
        if not self._on_paste(event.text):
            self._mark.replaced_by(lambda buffer: buffer.paste(event.text))
            self._text_changed()

    def _on_pointer(self, event: RoutedEvent) -> None:
        match event.message:
            case events.MouseDown(button=1) as message:
                self.buffer.move_to(self._place_at(message))
                self._is_dragging = True
                self.capture_mouse()
            case events.MouseMove(button=0) if self._is_dragging:
                # It was let go where nobody told: outside the window, or over a dialog.
                self._end_drag()
            case events.MouseMove() as message if self._is_dragging:
                place = self._place_at(message)
                self._mark.extend(lambda: self.buffer.move_to(place))
            case events.MouseUp() if self._is_dragging:
                self._end_drag()
            case _:
                return
        self._settle()
        self.refresh_text()
        event.claim()

    def _end_drag(self) -> None:
        self._is_dragging = False
        self.release_mouse()

    def _place_at(self, message: events.MouseEvent) -> int:
        """Return the place in the text under the pointer, or the nearest one."""
        region = self.content_region
        x = int(message.screen_x) - region.x - SIGN_CELLS
        y = int(message.screen_y) - region.y - self._rule_rows + self._first_shown
        rows = self._edit_rows()
        return cursor_at(rows, max(0, min(y, len(rows) - 1)), max(0, x))

    def _settle(self) -> None:
        if self._vim is not None:
            self._vim.settle()

    def _text_changed(self) -> None:
        self._settle()
        self.refresh_text()
        self._on_change()

    # Rows

    @property
    def _rule_rows(self) -> int:
        return 0 if self.app.size.height < _LOW_SCREEN_ROWS else 1

    @property
    def _room(self) -> int:
        return max(1, min(14, self.app.size.height // 3))

    def _edit_rows(self) -> Sequence[EditRow]:
        return self._rows_at(self.size.width - SIGN_CELLS - 1)

    def _rows_at(self, width_cells: int) -> Sequence[EditRow]:
        """Return the rows of the text, made once per text and width."""
        draft = self.buffer.draft
        return self._layout.rows(draft.text, width_cells, draft.chips)

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return rules and text."""
        draft = self.buffer.draft
        lines = self._rows_at(width_cells - SIGN_CELLS - 1)
        number, _ = place_of(lines, draft.cursor)
        self._first_shown = _window(self._first_shown, number, len(lines), self._room)
        shown = lines[self._first_shown : self._first_shown + self._room]
        rows = [
            self._row(line, position == 0 and self._first_shown == 0, width_cells)
            for position, line in enumerate(shown)
        ]
        if self._ghost and rows and shown[-1].end == len(draft.text) == draft.cursor:
            last = rows[-1]
            # Rows are shown without the spaces at their ends.
            gap = "" if last.text.endswith(" ") else " "
            ghost = clip([*last.runs, (gap + self._ghost, Ink(Role.FAINT))], width_cells - 1)
            rows[-1] = replace(last, runs=tuple(ghost))
        if draft.text == "":
            hint = clip([(self.placeholder, Ink(Role.MUTED))], width_cells - SIGN_CELLS - 1)
            rows = [Row((sign(self.prefix), *hint))]
        if not self._rule_rows:
            return rows
        hidden = len(lines) - len(shown)
        more = f" {hidden} more {'line' if hidden == 1 else 'lines'} " if hidden > 0 else ""
        ink = Ink(Role.SHELL if self.prefix == "!" else self._mode_role)
        top = rule(width_cells, ink, self._note or self._mode_hint)
        bottom = rule(width_cells, ink, more, self._vim_label)
        return [top, *rows, bottom]

    def _row(self, line: EditRow, is_first: bool, width: int) -> Row:
        draft, prefix = self.buffer.draft, self.prefix
        part = self._vim.selection if self._vim is not None else None
        part = part or self._mark.part
        if part is not None:
            return marked_row(line, draft, prefix, part, is_first=is_first, width=width)
        return text_row(line, draft, prefix, is_first=is_first, width=width)

    @property
    def _mode_hint(self) -> str:
        """What the mode of the prompt is, where its first character makes one."""
        return self.shell_hint() if self.prefix == "!" else ""

    @property
    def _vim_label(self) -> str:
        if self._vim is None or self._vim.is_typing:
            return ""
        return " ".join(("", self._vim.mode.value, self._vim.pending)).rstrip() + " "

    # The cursor

    def _place_cursor(self) -> None:
        if not self.is_mounted or not self.size or not self.has_focus:
            return
        number, column = place_of(self._edit_rows(), self.buffer.cursor)
        self.place_caret(Offset(SIGN_CELLS + column, self._rule_rows + number - self._first_shown))

    def _on_focus(self, event: events.Focus) -> None:
        self._place_cursor()

    def _on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._place_cursor)


def _window(first: int, cursor_row: int, count: int, room: int) -> int:
    """Return the first row to show so that the cursor's row is shown."""
    first = max(cursor_row - room + 1, min(first, cursor_row))
    return max(0, min(first, count - room))
