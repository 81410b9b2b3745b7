"""Shows dialogs above the prompt, one at a time; the others wait and are counted.

The host owns keys, pastes and clicks while a dialog is open, and guards a new one for 200 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

from textual import events
from textual.geometry import Offset, Size

from themes.theme import Role
from tui.dialogs.dialog import (
    Dialog,
    DialogView,
    FooterRow,
    give_height,
    ignored_key_count,
    key_handling_of,
    question_of,
)
from tui.input.actions import Context
from tui.input.dispatch import Handler, Release
from tui.input.event import Phase, RoutedEvent
from tui.input.event_kind import EventKind
from tui.input.keymap import ChordReader, Pending
from tui.input.listener import Listens
from tui.input.typing_guard import PAUSE_S, DialogGuard
from tui.text.sequence_view import SequenceView
from tui.text.styled_rows import BLANK, MUTED, Ink, Row
from tui.text.wrap import clip, runs_width
from tui.widgets.rows_widget import RowsWidget

_LOW_ROWS: Final = 16
"""With fewer rows than this, hints are left out."""
_SCROLLING_ROWS: Final = 3
"""Rows that must remain for the rest of the body before its end is pinned."""
_ROWS_BESIDE: Final = 4
"""Rows that a dialog leaves to the rest of the screen, if that is high enough."""


_TYPING: Final = " what you type goes to the prompt; pause, then answer "


class DialogHost(Listens, RowsWidget):
    """Shows the first of the open dialogs; invisible while there is none."""

    DEFAULT_CSS = """
    DialogHost { height: auto; display: none; }
    DialogHost.-open { display: block; }
    """

    def __init__(
        self,
        chords: ChordReader,
        give_back: Callable[[str], None],
        on_change: Callable[[], None],
        *,
        id: str | None = None,
    ) -> None:
        """`give_back` receives text typed before a dialog was noticed, for the prompt.

        `on_change` is called when a dialog opens, changes or closes.
        """
        super().__init__(id=id)
        self.suspend: Callable[[], object] = lambda: None
        """Called when the key that suspends the program is pressed, except while text is edited."""
        self._chords = chords
        self._on_change = on_change
        self._give_back = give_back
        self._guard = DialogGuard(give_back)
        self._queue: list[Dialog] = []
        self._release: Release | None = None
        self._scroll = 0
        self._body_id = ""
        self._is_at_end = True
        self._in_front = 0
        self._footer_at: list[int | None] = []
        self._caret: tuple[int, int] | None = None

    @property
    def current(self) -> Dialog | None:
        """The visible dialog; None without one."""
        return self._queue[0] if self._queue else None

    @property
    def open_count(self) -> int:
        """Number of open dialogs, including the visible one."""
        return len(self._queue)

    def open(self, dialog: Dialog) -> None:
        """Show a dialog, or queue it behind the open one."""
        is_aside = bool(self._queue) and key_handling_of(self._queue[0]).steps_aside
        self._queue.insert(0 if is_aside else len(self._queue), dialog)
        changes_to = getattr(dialog, "changes_to", None)
        if callable(changes_to):
            changes_to(self._redraw_current)
        if is_aside or len(self._queue) == 1:
            self._open()
        else:
            self.rows_changed()

    def close(self, dialog: Dialog) -> None:
        """Remove a dialog, answered or not; the next one appears."""
        if dialog not in self._queue:
            return
        was_shown = self._queue[0] is dialog
        self._queue.remove(dialog)
        if not was_shown:
            self.rows_changed()
            return
        self._guard.release()
        if self._queue:
            self._open()
        else:
            self._hide()

    def give_back(self, text: str) -> None:
        """Move text that was typed at a dialog to the prompt."""
        if text:
            self._give_back(text)

    # Opening and closing

    def _open(self) -> None:
        self._scroll = 0
        self._is_at_end = True
        self.add_class("-open")
        if self._release is None:
            self._release = self.own_keyboard()
        if key_handling_of(self._queue[0]).is_guarded:
            self._guard.arm()
        self._on_change()
        self._redraw()

    def _hide(self) -> None:
        self.remove_class("-open")
        if self._release is not None:
            self._release()
            self._release = None
        self._rows = ()
        self._rows_width = -1
        self._on_change()

    # Input

    def listeners(self) -> Iterable[tuple[Phase, Handler, Collection[EventKind]]]:
        """Listen to keys, pastes and the mouse."""
        typing_kinds = (EventKind.KEY, EventKind.PASTE)
        pointer_kinds = (EventKind.MOUSE_DOWN, EventKind.SCROLL)
        guarded_kinds = (*typing_kinds, EventKind.MOUSE_DOWN, EventKind.CLICK, EventKind.FOCUS)
        return [
            (Phase.CAPTURE, self._guard_input, guarded_kinds),
            (Phase.CAPTURE, self._on_typed, typing_kinds),
            (Phase.CAPTURE, self._on_pointer, pointer_kinds),
        ]

    def _guard_input(self, event: RoutedEvent) -> None:
        if not self._queue:
            return
        was_typing = self._guard.is_typing
        self._guard.on_input(event)
        if was_typing:
            self._show_typing()
            self._redraw()

    def _on_typed(self, event: RoutedEvent) -> None:
        dialog = self.current
        if dialog is None:
            return
        event.claim()
        question, ignored_count = question_of(dialog), ignored_key_count(dialog)
        if event.kind is EventKind.PASTE:
            dialog.paste(event.text)
        else:
            self._press(dialog, event)
        if question_of(dialog) != question and not dialog.is_done:
            # The question has changed: the next keys were meant for the previous one.
            self._guard.arm()
        elif ignored_key_count(dialog) != ignored_count:
            self._guard.take_words(event)
            self._show_typing()
        self._redraw()

    def _show_typing(self) -> None:
        """Update the title when the pause in typing is over."""
        if self._guard.is_typing:
            self.set_timer(PAUSE_S, self._redraw_current)

    def _press(self, dialog: Dialog, event: RoutedEvent) -> None:
        key_handling = key_handling_of(dialog)
        meaning = self._chords.press(event.key, (*key_handling.contexts, Context.SCROLL))
        if isinstance(meaning, Pending):
            return
        action_id = meaning.action_id if meaning is not None else None
        if action_id == "app:suspend" and not self.has_caret:
            self.suspend()
            return
        # Textual's names of punctuation ("slash") are replaced by the character, except for space.
        key = event.text if event.text.strip() else event.key
        rows = key_handling.scroll_keys.get(key) or _SCROLLS.get(action_id or key)
        if rows is not None and not (key_handling.has_pages and abs(rows) > 1):
            self._scroll_body(rows)
        else:
            dialog.press(key, event.text, action_id)

    def _on_pointer(self, event: RoutedEvent) -> None:
        dialog = self.current
        message = event.message
        match message:
            case events.MouseScrollUp():
                self._turn_wheel(-1)
            case events.MouseScrollDown():
                self._turn_wheel(1)
            case events.MouseDown() if dialog is not None and message.button == 1:
                y = int(message.screen_y) - self.content_region.y
                choice = self._footer_at[y] if 0 <= y < len(self._footer_at) else None
                if choice is not None:
                    dialog.choose(choice)
            case _:
                return
        event.claim()
        self._redraw()

    def _turn_wheel(self, step: int) -> None:
        """Move in a list, or scroll the body."""
        turn = getattr(self.current, "turn_wheel", None)
        if turn is not None:
            turn(step)
        else:
            self._scroll_body(3 * step)

    def _scroll_body(self, rows: int) -> None:
        if self._scroll + rows < 0 and self.current is not None:
            load_previous_page = getattr(self.current, "load_previous_page", None)
            if load_previous_page is not None:
                load_previous_page()
        self._scroll += rows
        self._is_at_end = False

    def _redraw_current(self) -> None:
        """Draw the visible dialog again, if there still is one."""
        if self._queue and self.is_mounted:
            self._redraw()

    def _redraw(self) -> None:
        if self._rows_width < 0:
            self.refresh(layout=True)
        else:
            self.rows_changed()
        self.call_after_refresh(self._place_caret)

    # Rows

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return title, the visible part of the body, and the answers."""
        dialog = self.current
        if dialog is None:
            return ()
        give_height(dialog, self._limit)
        view = dialog.view(width_cells)
        is_new = view.body_id != self._body_id
        if is_new:
            self._scroll, self._body_id, self._is_at_end = 0, view.body_id, True
            self._in_front = view.rows_in_front
        self._scroll += view.rows_in_front - self._in_front
        self._in_front = view.rows_in_front
        if view.follows_end and self._is_at_end:
            self._scroll = len(view.body)
        limit = self._limit
        body: Sequence[Row] = SequenceView((view.body, view.pinned_rows))
        footer = list(view.footer)
        air = 1
        if len(body) + len(footer) + 1 + air > limit:
            air = 0
            footer = _trim_footer(footer, len(body) + 1, limit)
        # The subject of the question stays visible with the answers, however low the window.
        reserved_rows = min(len(body), 2) + (1 if limit > 5 else 0)
        footer = _fitting(footer, max(1, limit - reserved_rows))
        room = max(0, limit - len(footer) - (1 if limit > 5 else 0))
        pinned_rows = _pinned_rows(view, room) if len(body) > room else []
        if pinned_rows:
            body, room = view.body, room - len(pinned_rows)
        if is_new and view.first_row:
            self._scroll = view.first_row - room // 3
        self._scroll = max(0, min(self._scroll, len(body) - room))
        self._is_at_end = self._scroll >= len(body) - room
        visible_rows = body[self._scroll : self._scroll + room]
        hidden = len(body) - len(visible_rows)
        rows: list[Row] = []
        if air:
            rows.append(BLANK)
        if limit > 5:
            where = f" {self._scroll + len(visible_rows)}/{len(body)} ↕ " if hidden else ""
            position = _TYPING if self._guard.is_typing else where
            rows.append(_title_row(view.title, width_cells, position + _waiting_text(self._queue)))
        rows.extend([*visible_rows, *pinned_rows])
        return self._with_footer(rows, footer)

    def _with_footer(self, rows: list[Row], footer: Sequence[FooterRow]) -> list[Row]:
        """Add the footer, and store the positions of its choices and of the text cursor."""
        self._footer_at = [*(None for _ in rows), *(part.choice for part in footer)]
        self._caret = None
        for position, part in enumerate(footer):
            if part.caret_cells is not None:
                self._caret = (part.caret_cells, len(rows) + position)
        return [*rows, *(part.row for part in footer)]

    @property
    def _limit(self) -> int:
        height = self.app.size.height
        return max(1, height - _ROWS_BESIDE if height > 16 else height - 1)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Make the rows again, which depend on the screen's height; return their number."""
        self._rows_width = width
        self._rows = self.make_rows(width)
        return len(self._rows)

    def _place_caret(self) -> None:
        if self._caret is not None and self.size:
            self.place_caret(Offset(*self._caret))

    @property
    def has_caret(self) -> bool:
        """Whether a field is being edited."""
        return self._caret is not None


def _waiting_text(queue: Sequence[Dialog]) -> str:
    """Return text about waiting questions, without panels; "" if there are none besides this."""
    count = sum(key_handling_of(dialog).is_guarded for dialog in queue)
    if key_handling_of(queue[0]).is_guarded:
        return f" 1 of {count} " if count > 1 else ""
    return f" {count} question{'s' * (count > 1)} waiting " if count else ""


def _title_row(title: Sequence[tuple[str, Ink]], width: int, right: str) -> Row:
    rule = Ink(Role.ACCENT)
    left_runs = clip([("── ", rule), *title, (" ", rule)], max(0, width - len(right) - 2))
    gap = max(0, width - runs_width(left_runs) - len(right) - (2 if right else 0))
    tail = ((right, MUTED), ("──", rule)) if right else ()
    return Row((*left_runs, ("─" * gap, rule), *tail), is_copied=False)


def _pinned_rows(view: DialogView, room: int) -> list[Row]:
    """Return the pinned end of the body if enough rows remain for the rest of it; otherwise []."""
    rows = list(view.pinned_rows)
    if rows and rows[0] == BLANK:
        del rows[0]
    return rows if len(rows) <= room - _SCROLLING_ROWS else []


def _trim_footer(footer: Sequence[FooterRow], above: int, limit: int) -> list[FooterRow]:
    """Return the footer without optional rows, so that the body need not scroll.

    First blank rows are left out, then hints, then details of unselected answers. If the body has
    to scroll nevertheless, hints stay, unless the window is so low that the footer would leave
    hardly any room for the body.
    """
    tight = [part for part in footer if not (part.is_optional and part.row == BLANK)]
    bare = [part for part in footer if not part.is_optional]
    short = [part for part in tight if not part.is_detail]
    for candidate in (list(footer), tight, bare, short):
        if above + len(candidate) <= limit:
            return candidate
    is_hinted = limit >= _LOW_ROWS or above > 2 * limit
    return short if is_hinted else [part for part in bare if not part.is_detail]


def _fitting(footer: Sequence[FooterRow], room: int) -> list[FooterRow]:
    """Return as many footer rows as fit, around the selected one."""
    if len(footer) <= room:
        return list(footer)
    selected_index = next((i for i, part in enumerate(footer) if part.is_selected), 0)
    first = max(0, min(selected_index - room // 2, len(footer) - room))
    return list(footer[first : first + room])


_FAR: Final = 1_000_000
_SCROLLS: Final = {
    "scroll:pageUp": -10,
    "scroll:pageDown": 10,
    "scroll:fullPageUp": -10,
    "scroll:fullPageDown": 10,
    "scroll:halfPageUp": -5,
    "scroll:halfPageDown": 5,
    "scroll:lineUp": -1,
    "scroll:lineDown": 1,
    "scroll:top": -_FAR,
    "scroll:bottom": _FAR,
    "pageup": -10,
    "pagedown": 10,
    "ctrl+up": -1,
    "ctrl+down": 1,
}
"""Number of rows to scroll, by action, and by keys that scroll independent of the keymap."""
