"""The prompt: grows with its text, edits like a shell, and shows the terminal's own cursor.

Keys that are actions (send, history, modes) are resolved by the app before they come here; what
arrives is text and readline editing. Next: `text_buffer`, `edit_layout`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from textual import events
from textual.geometry import Offset

from themes.theme import Role
from tui.components.edit_layout import EditRow, cursor_at, edit_rows, place_of
from tui.components.rows_widget import RowsWidget
from tui.input.dispatch import Handler
from tui.input.event import Phase, RoutedEvent
from tui.input.listens import Listens
from tui.input.priority import EventKind
from tui.text.buffer import TextBuffer
from tui.text.draft import Chip, Draft, is_chip
from tui.text.edit_keys import EDIT_KEYS
from tui.text.ink import FAINT, MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import clip, runs_width

if TYPE_CHECKING:
    from tui.text.vim.keys import KeyUse, VimKeys

PLACEHOLDER: Final = "Ask for something · / commands · @ files · ! shell · ? keys"
_SIGN_CELLS: Final = 3
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
        self.placeholder = PLACEHOLDER
        self._mode_role = Role.FAINT
        self._note = ""
        self._first_shown = 0
        self._wanted_column: int | None = None
        self._laid_out: tuple[str, Mapping[str, Chip], int, list[EditRow]] | None = None
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

    def use_vim(self, is_on: bool, remaps: Mapping[str, str] | None = None) -> None:
        """Edit with vim's keys, or with readline's alone."""
        if is_on:
            from tui.text.vim.keys import VimKeys  # for those who ask for it

            self._vim = VimKeys(self.buffer, remaps=remaps)
        else:
            self._vim = None
        self.refresh_text()

    @property
    def vim_mode(self) -> str:
        """The mode of vim's keys, such as `NORMAL`; empty without them."""
        return self._vim.mode.value if self._vim is not None else ""

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
        """Type text at the cursor."""
        self.buffer.insert(text)
        self._text_changed()

    def insert_picture(self, mention: str) -> None:
        """Put a picture's label at the cursor; the mention of its file is sent in its place."""
        before = self.buffer.text[: self.buffer.cursor]
        if before and not before[-1].isspace():
            self.buffer.insert(" ")
        self.buffer.insert_chip(mention + " ", "image")
        self._text_changed()

    def edit(self, change: Callable[[TextBuffer], None]) -> None:
        """Apply a change of the buffer."""
        change(self.buffer)
        self._text_changed()

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
            (Phase.BUBBLE, self._on_press, (EventKind.MOUSE_DOWN,)),
        ]

    def _on_key_event(self, event: RoutedEvent) -> None:
        edit = EDIT_KEYS.get(event.key)
        if edit is not None:
            self.edit(edit)
        elif event.text:
            if self._vim is None or self._vim.is_typing:
                self.insert(event.text)
        else:
            return
        event.claim()

    def _on_paste_event(self, event: RoutedEvent) -> None:
        event.claim()
        if not self._on_paste(event.text):
            self.buffer.paste(event.text)
            self._text_changed()

    def _on_press(self, event: RoutedEvent) -> None:
        message = event.message
        if not isinstance(message, events.MouseDown):
            return
        region = self.content_region
        x = int(message.screen_x) - region.x - _SIGN_CELLS
        y = int(message.screen_y) - region.y - self._rule_rows + self._first_shown
        rows = self._edit_rows()
        self.buffer.move_to(cursor_at(rows, max(0, min(y, len(rows) - 1)), max(0, x)))
        self._settle()
        self.refresh_text()
        event.claim()

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

    def _edit_rows(self) -> list[EditRow]:
        return self._rows_at(self.size.width - _SIGN_CELLS - 1)

    def _rows_at(self, width_cells: int) -> list[EditRow]:
        """Return the rows of the text, made once per text and width."""
        draft = self.buffer.draft
        known = self._laid_out
        if known is None or known[0] is not draft.text or known[1] is not draft.chips:
            known = None
        if known is None or known[2] != width_cells:
            rows = edit_rows(draft.text, width_cells, draft.chips)
            self._laid_out = known = (draft.text, draft.chips, width_cells, rows)
        return known[3]

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return rules and text."""
        draft = self.buffer.draft
        lines = self._rows_at(width_cells - _SIGN_CELLS - 1)
        number, _ = place_of(lines, draft.cursor)
        self._first_shown = _window(self._first_shown, number, len(lines), self._room)
        shown = lines[self._first_shown : self._first_shown + self._room]
        rows = [
            self._text_row(line, position == 0 and self._first_shown == 0, width_cells)
            for position, line in enumerate(shown)
        ]
        if draft.text == "":
            hint = clip([(self.placeholder, Ink(Role.MUTED))], width_cells - _SIGN_CELLS - 1)
            rows = [Row((self._sign(), *hint))]
        if not self._rule_rows:
            return rows
        hidden = len(lines) - len(shown)
        more = f" {hidden} more {'line' if hidden == 1 else 'lines'} " if hidden > 0 else ""
        top = self._rule(width_cells, self._note)
        bottom = self._rule(width_cells, more, self._vim_label)
        return [top, *rows, bottom]

    @property
    def _vim_label(self) -> str:
        if self._vim is None or self._vim.is_typing:
            return ""
        return " ".join(("", self._vim.mode.value, self._vim.pending)).rstrip() + " "

    def _rule(self, width: int, right: str, left: str = "") -> Row:
        role = Role.SHELL if self.prefix == "!" else self._mode_role
        ink = Ink(role)
        begin: list[Run] = [("───", ink), (left, Ink(Role.ACCENT))] if left else []
        end: list[Run] = []
        if right:
            room = max(0, width - 6 - runs_width(begin))
            end = [*clip([(right, MUTED)], room), ("───", ink)]
        gap = max(0, width - runs_width(begin) - runs_width(end))
        return Row(tuple(clip([*begin, ("─" * gap, ink), *end], width)), is_copied=False)

    def _sign(self) -> Run:
        # The `!` itself stands in the text beside it.
        return (" ❯ ", Ink(Role.SHELL if self.prefix == "!" else Role.ACCENT, bold=True))

    def _text_row(self, line: EditRow, is_first: bool, width: int) -> Row:
        draft = self.buffer.draft
        runs: list[Run] = []
        text = draft.text[line.start : line.end]
        base = Ink(Role.SHELL) if self.prefix == "!" else TEXT
        for char_run, is_paste in _chip_runs(text):
            if is_paste:
                chip = draft.chips.get(char_run)
                runs.append((chip.label if chip else " ", Ink(Role.ACCENT, Role.SURFACE_RAISED)))
            else:
                runs.extend(_mentions(char_run, base))
        selection = self._vim.selection if self._vim is not None else None
        if selection is not None:
            return self._marked_row(line, selection, is_first, width)
        if line.start == 0 and self.prefix == "/" and runs:
            head, _, rest = runs[0][0].partition(" ")
            runs[0:1] = [(head, Ink(Role.ACCENT)), ((" " + rest) if rest else "", base)]
        sign: Run = self._sign() if is_first else ("   ", FAINT)
        return Row((sign, *(run for run in clip(runs, width - _SIGN_CELLS) if run[0])))

    def _marked_row(
        self, line: EditRow, selection: tuple[int, int], is_first: bool, width: int
    ) -> Row:
        """Return a row with what vim has marked in it; colours of words give way to the mark."""
        draft = self.buffer.draft
        runs: list[Run] = [self._sign() if is_first else ("   ", FAINT)]
        marked = TEXT.on(Role.SELECTION)
        for place in range(line.start, line.end):
            chip = draft.chips.get(draft.text[place])
            label = chip.label if chip is not None else draft.text[place]
            runs.append((label, marked if selection[0] <= place < selection[1] else TEXT))
        if line.start == line.end and selection[0] <= line.start < selection[1]:
            runs.append((" ", marked))
        joined: list[Run] = []
        for text, ink in runs:
            if joined and joined[-1][1] == ink:
                # Clusters of several characters stay whole.
                joined[-1] = (joined[-1][0] + text, ink)
            else:
                joined.append((text, ink))
        return Row(tuple(clip(joined, width)))

    # The cursor

    def _place_cursor(self) -> None:
        if not self.is_mounted or not self.size or not self.has_focus:
            return
        number, column = place_of(self._edit_rows(), self.buffer.cursor)
        region = self.content_region
        self.app.cursor_position = Offset(
            region.x + _SIGN_CELLS + column,
            region.y + self._rule_rows + number - self._first_shown,
        )

    def _on_focus(self, event: events.Focus) -> None:
        self._place_cursor()

    def _on_resize(self, event: events.Resize) -> None:
        self.call_after_refresh(self._place_cursor)


def _window(first: int, cursor_row: int, count: int, room: int) -> int:
    """Return the first row to show so that the cursor's row is shown."""
    first = max(cursor_row - room + 1, min(first, cursor_row))
    return max(0, min(first, count - room))


def _chip_runs(text: str) -> Iterable[tuple[str, bool]]:
    """Yield pieces of text, and chips one by one."""
    piece = ""
    for char in text:
        if is_chip(char):
            if piece:
                yield piece, False
                piece = ""
            yield char, True
        else:
            piece += char
    if piece:
        yield piece, False


def _mentions(text: str, ink: Ink) -> Iterable[Run]:
    """Yield the text with `@path` words set apart."""
    if "@" not in text:
        yield text, ink
        return
    word = ""
    for char in text + "\0":
        if char != "\0" and not char.isspace():
            word += char
            continue
        if word:
            is_mention = word.startswith("@") and len(word) > 1
            yield word, Ink(Role.ACCENT) if is_mention else ink
        word = ""
        if char != "\0":
            yield char, ink
