"""A list to search, preview and pick from; the base of most panels."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.input.actions import Context
from tui.screen.width import text_width
from tui.text.safe_text import shown_line
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip, runs_width, wrap

SHOWN_ITEMS: Final = 10
"""Minimum number of visible lines, also used while the height is unknown."""
_OTHER_ROWS: Final = 4
"""Rows for title, blank row and key hints of the panel, and the text above the list."""
NOTHING: Final = -1
_FAR: Final = 1_000_000

Letters = Literal["search", "keys"]


class Item(Struct, frozen=True):
    """An item of the list."""

    label: str
    detail: str = ""
    is_current: bool = False
    keywords: str = ""
    """Additional words by which a search finds it."""
    group: str = ""
    """Heading, shown above the first of consecutive items with the same group."""
    hint: str = ""
    """Fainter text after the label, such as arguments; the first to be cut off."""


class Pick(Struct, frozen=True):
    """The picked item, and the key that picked it."""

    index: int
    """Index of the item; `NOTHING` for a key of the whole list, pressed on an empty one."""
    key: str
    """`enter`, or one of the panel's own keys or actions."""


class ListPanel(GivesAnswer[Pick | None]):
    """Typing searches, arrows move, Enter or one of its own keys picks, Esc closes (None)."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        *,
        question: str = "",
        selected_index: int = 0,
        keys: Collection[str] = (),
        list_keys: Mapping[str, str] = MappingProxyType({}),
        contexts: tuple[Context, ...] = (),
        letters: Letters = "search",
        hint: str = "",
        preview: Callable[[int, int], Sequence[Row]] | None = None,
        on_move: Callable[[int], None] = lambda _: None,
        on_adjust: Callable[[int], None] | None = None,
        empty: str = "nothing here yet",
    ) -> None:
        """`preview` takes an item and a width; `on_adjust` is called with left (-1) and right (1).

        `keys` are names of keys, or actions of `contexts`. If they contain letters, or with
        `letters="keys"`, a search begins with `/`. `list_keys` are keys that need no item, with
        descriptions: an empty list handles them, and shows them instead of `hint`.
        """
        self.key_handling = KeyHandling(
            (*contexts, Context.SELECT), is_guarded=False, has_pages=True
        )
        self._title = title
        self._items = items
        self.question = question
        """Text above the list."""
        self.keys = frozenset({*keys, *list_keys})
        """The panel's own keys, by name or action."""
        self.item_keys = frozenset(keys)
        """Those of its own keys that apply to the selected item."""
        self._list_keys = list_keys
        self.hint = hint or "type to search · ↑↓ select · enter confirm · esc close"
        """Descriptions of the keys, shown below the list."""
        self._preview = preview
        self._on_move = on_move
        self._on_adjust = on_adjust
        self._empty = empty
        self._redraw: Callable[[], None] = lambda: None
        self._query = ""
        self.is_searching = letters == "search"
        """Whether letters are search text instead of keys."""
        self._has_letters = letters == "keys"
        self._matches = list(range(len(items)))
        self._position = max(0, min(selected_index, len(items) - 1))
        self._shown_items = SHOWN_ITEMS
        super().__init__()

    @property
    def selected_item(self) -> int | None:
        """Index of the selected item; None if the search finds nothing."""
        return self._matches[self._position] if self._matches else None

    @property
    def matching_items(self) -> Sequence[int]:
        """Indexes of the items that the search found, in the order in which they are shown."""
        return self._matches

    @property
    def shown_range(self) -> tuple[int, int, int]:
        """First and last of the found items that are visible, counted from 1, and their number."""
        items = [line for line in self._lines() if isinstance(line, int)]
        first = self._matches.index(items[0]) + 1 if items else 1
        return first, first + len(items) - 1, len(self._matches)

    def take_height(self, height_rows: int) -> None:
        """Use two thirds of the rows; the rest remains for the conversation."""
        self._shown_items = max(SHOWN_ITEMS, height_rows * 2 // 3 - _OTHER_ROWS)

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key; while searching, letters extend the search text."""
        if action_id == "settings:search" and not self._query:
            self.is_searching = True
        elif self.is_searching and text and text.isprintable():
            self._search(self._query + text)
        elif not (self._press_own(key, action_id) or self._press_move(key, action_id)):
            self._press_search(key)

    def _press_own(self, key: str, action_id: str | None) -> bool:
        """Pick with Enter or one of the panel's own keys, or go back; False for other keys."""
        own = action_id if action_id in self.keys else key if key in self.keys else None
        if own is None and (key == "escape" or action_id == "select:cancel"):
            self._go_back()
        elif own is None and key != "enter" and action_id not in _ACCEPTS:
            return False
        elif self.selected_item is not None:
            self.give(Pick(self.selected_item, own or "enter"))
        elif own is not None and own in self._list_keys and not self._items:
            self.give(Pick(NOTHING, own))
        return True

    def _press_move(self, key: str, action_id: str | None) -> bool:
        action = action_id or ""
        if (step := _ADJUSTS.get(action_id or key)) and self._on_adjust is not None:
            self._on_adjust(step)
        elif step := _PAGES.get(key) or _PAGES.get(action):
            self._turn_page(step)
        elif step := _MOVES.get(key) or _MOVES.get(action):
            self._move(step)
        else:
            return False
        return True

    def _press_search(self, key: str) -> None:
        if key in {"backspace", "ctrl+h"}:
            self._search(self._query[:-1])
        elif key == "ctrl+u":
            self._search("")
        elif key == "/":
            self.is_searching = True

    def _go_back(self) -> None:
        """End the search; without one, close the panel."""
        if self._query or (self._has_letters and self.is_searching):
            self.is_searching = not self._has_letters
            self._search("")
        else:
            self.give(None)

    def replace(self, items: Sequence[Item]) -> None:
        """Replace the items; number and order must stay the same."""
        self._items = items
        self._redraw()

    def renew(self, items: Sequence[Item], selected_index: int) -> None:
        """Replace the items with others, and select the one at `selected_index`."""
        self._items = items
        self._search(self._query)
        if selected_index in self._matches:
            self._position = self._matches.index(selected_index)
        self._redraw()

    def extend(self, items: Sequence[Item]) -> None:
        """Append items; the selection stays."""
        item = self.selected_item
        self._items = [*self._items, *items]
        self._search(self._query)
        if item in self._matches:
            self._position = self._matches.index(item)
        self._redraw()

    def changes_to(self, redraw: Callable[[], None]) -> None:
        """Set the function that redraws the panel after a change without a key."""
        self._redraw = redraw

    def paste(self, text: str) -> None:
        """Append pasted text to the search text."""
        self._search(self._query + " ".join(text.split()))

    def turn_wheel(self, step: int) -> None:
        """Select the next or previous item; unlike the arrows it does not wrap around."""
        if self._matches:
            self._position = max(0, min(self._position + step, len(self._matches) - 1))
            self._on_move(self._matches[self._position])

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected one picks it."""
        if self.selected_item == choice:
            self.give(Pick(choice, "enter"))
        elif choice in self._matches:
            self._position = self._matches.index(choice)
            self._on_move(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the panel at a width."""
        width = max(1, width_cells - 4)
        body: list[Row] = []
        if self.question:
            body += [row("   ", *line.runs) for line in wrap([(self.question, TEXT)], width)]
        if self._preview is not None and self.selected_item is not None:
            body += self._preview(self.selected_item, width_cells)
        title = ((self._title, Ink(Role.ACCENT, bold=True)),)
        return DialogView(title, body, [*self._rows(width_cells), *self._footer_rows(width_cells)])

    def _rows(self, width: int) -> list[FooterRow]:
        if not self._matches:
            text = f"nothing found for {self._query!r}" if self._query else self._empty
            lines = wrap([(text, MUTED)], width - 4)
            return [FooterRow(row("   ", *line.runs)) for line in lines]
        visible_lines = self._lines()
        indexes = [index for index in visible_lines if isinstance(index, int)]
        # With groups, details stay in the same column while the list scrolls.
        aligned_indexes = indexes if len(visible_lines) == len(indexes) else self._matches
        labels = {index: self._label_runs(index) for index in aligned_indexes}
        column = self._detail_column(labels, width)
        rows = [FooterRow(BLANK, is_optional=True)]
        for index in visible_lines:
            if isinstance(index, str):
                rows.append(FooterRow(row("  ", (index, Ink(Role.HEADING, bold=True)))))
                continue
            runs = self._item_runs(index, labels[index], column, width)
            rows.append(FooterRow(row(*clip(runs, width - 1)), index, index == self.selected_item))
        return rows

    def _label_runs(self, index: int) -> list[Run]:
        item = self._items[index]
        ink = Ink(Role.ACCENT, bold=True) if index == self.selected_item else TEXT
        mark: Run = ("● " if item.is_current else "", Ink(Role.SUCCESS))
        hint: list[Run] = [(f" {shown_line(item.hint)}", MUTED)] if item.hint else []
        return [mark, (shown_line(item.label), ink), *hint]

    def _item_runs(self, index: int, label: list[Run], column: int, width: int) -> list[Run]:
        item, is_selected = self._items[index], index == self.selected_item
        sign: Run = (" ❯ " if is_selected else "   ", Ink(Role.ACCENT))
        if item.detail:
            detail = shown_line(item.detail)
            # A label too long for the column may use the room that its own detail leaves.
            label = [*clip(label, max(column, width - 4 - text_width(detail)) - 2)]
            gap = (" " * max(2, column - runs_width(label)), TEXT)
            label += [gap, (detail, MUTED)]
        return [sign, *label]

    def _lines(self) -> Sequence[int | str]:
        """Return the visible lines: items, and headings between them."""
        lines = self._all_lines()
        first = self._first_line(lines)
        return lines[first : first + self._shown_items]

    def _all_lines(self) -> Sequence[int | str]:
        """Return the items and, without a search, the headings between them."""
        if self._query or not any(item.group for item in self._items):
            return self._matches
        lines: list[int | str] = []
        group = ""
        for index in self._matches:
            if self._items[index].group != group:
                lines.append(group := self._items[index].group)
            lines.append(index)
        return lines

    def _first_line(self, lines: Sequence[int | str]) -> int:
        item = self.selected_item
        line = lines.index(item) if item is not None else 0
        return max(0, min(line - self._shown_items // 2, len(lines) - self._shown_items))

    def _detail_column(self, labels: Mapping[int, list[Run]], width: int) -> int:
        """Return the column of the details: after the longest label, but leaving the details half
        of the row or what they need."""
        longest = max(map(runs_width, labels.values())) + 2
        detail = max(text_width(shown_line(self._items[index].detail)) for index in labels)
        return max(4, min(longest, max(width // 2 - 4, width - 4 - detail)))

    def _footer_rows(self, width: int) -> list[FooterRow]:
        """Return the keys, in two rows if one has no room for all; the last key closes."""
        if not self._items:
            keys = " · ".join(f"{key} {does}" for key, does in self._list_keys.items())
            hint = f"{keys} · esc close" if keys else "esc close"
            return [FooterRow(row("   ", (hint, MUTED), is_copied=False), is_optional=True)]
        count = f"{self._position + 1 if self._matches else 0}/{len(self._matches)}"
        is_open = self._query or (self._has_letters and self.is_searching)
        search_runs: tuple[Run, ...] = ()
        parts = [*self.hint.split(" · "), count]
        if is_open:
            search_runs = ((f"search: {self._query}▏", TEXT), (" · ", MUTED))
            parts = [part for part in parts if not _LETTER_KEY.match(part)]
        room = width - 4
        first, other = [parts[0]], parts[1:]
        search_cells = runs_width(search_runs)
        while other and text_width(" · ".join([*first, other[0]])) + search_cells <= room:
            first.append(other.pop(0))
        while len(other) > 2 and text_width(" · ".join(other)) > room:
            # Keep how to close, and leave out the ones before it.
            del other[-3]
        if other == [count] and len(first) > 1:
            other.insert(0, first.pop())
        lines = [(*search_runs, (" · ".join(first), MUTED)), ((" · ".join(other), MUTED),)]
        return [
            FooterRow(
                row(*clip([("   ", TEXT), *runs], width - 1), is_copied=False),
                is_optional=index > 0 or not self._query,
            )
            for index, runs in enumerate(lines if other else lines[:1])
        ]

    def _move(self, step: int) -> None:
        if self._matches and abs(step) > 1:
            self._position = 0 if step < 0 else len(self._matches) - 1
            self._on_move(self._matches[self._position])
        elif self._matches:
            self._position = (self._position + step) % len(self._matches)
            self._on_move(self._matches[self._position])

    def _turn_page(self, step: int) -> None:
        """Move by a page, or to the start or end; unlike single steps it does not wrap around."""
        if self._matches:
            position = self._page_position(step) if abs(step) == 1 else self._position + step
            self._position = max(0, min(position, len(self._matches) - 1))
            self._on_move(self._matches[self._position])

    def _page_position(self, step: int) -> int:
        """Return the position of the item in the middle of the next or previous page."""
        lines = self._all_lines()
        middle = self._first_line(lines) + self._shown_items // 2 + step * self._shown_items
        if middle < 0:
            return 0
        # A heading cannot be selected: take the nearest item towards the current page.
        part = lines[middle:] if step < 0 else reversed(lines[: middle + 1])
        return next((self._matches.index(line) for line in part if isinstance(line, int)), 0)

    def _search(self, query: str) -> None:
        self._query = query
        words = query.casefold().split()
        if not words:
            self._matches = list(range(len(self._items)))
        else:
            ranks = [(_rank(item, words), index) for index, item in enumerate(self._items)]
            self._matches = [index for rank, index in sorted(ranks) if rank < _NOT_FOUND]
        self._position = 0
        if self._matches:
            self._on_move(self._matches[0])


def paragraph_rows(text: str, width_cells: int, ink: Ink = MUTED) -> list[Row]:
    """Return a text with a panel's margin; control characters are revealed."""
    return [row("   ", *line.runs) for line in wrap([(shown_line(text), ink)], width_cells - 4)]


def _rank(item: Item, words: Sequence[str]) -> int:
    """Return the rank of an item for the searched words; `_NOT_FOUND` if one of them is missing.

    0: the label begins with the first word; 1: it contains all words; 2: other text does.
    """
    label = item.label.casefold()
    rest = f"{item.detail} {item.keywords}".casefold()
    if not all(word in label or word in rest for word in words):
        return _NOT_FOUND
    if label.lstrip("/").startswith(words[0]):
        return 0
    return 1 if all(word in label for word in words) else 2


_NOT_FOUND: Final = 3
_LETTER_KEY: Final = compile_late(r"(/|[a-z]|type to) ")
"""Beginnings of hints about keys that are text, or are obvious, during a search."""
_ACCEPTS: Final = frozenset({"select:accept", "messageSelector:select"})
_MOVES: Final = {
    "up": -1,
    "down": 1,
    "ctrl+p": -1,
    "ctrl+n": 1,
    "select:previous": -1,
    "select:next": 1,
    "messageSelector:up": -1,
    "messageSelector:down": 1,
    "messageSelector:top": -_FAR,
    "messageSelector:bottom": _FAR,
    "confirm:previous": -1,
    "confirm:next": 1,
}
_PAGES: Final = {
    "pageup": -1,
    "pagedown": 1,
    "scroll:pageUp": -1,
    "scroll:pageDown": 1,
    "scroll:fullPageUp": -1,
    "scroll:fullPageDown": 1,
    "home": -_FAR,
    "end": _FAR,
    "scroll:top": -_FAR,
    "scroll:bottom": _FAR,
}
_ADJUSTS: Final = {
    "left": -1,
    "right": 1,
    "modelPicker:decreaseEffort": -1,
    "modelPicker:increaseEffort": 1,
}
