"""A list to search, look at and pick from: what most panels are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from themes.theme import Role
from tui.dialogs.dialog import Answered, DialogView, FooterRow
from tui.screen.width import text_width
from tui.shown import shown_line
from tui.text.ink import BLANK, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip, wrap

SHOWN_ITEMS: Final = 10


@dataclass(frozen=True, slots=True)
class Item:
    """One line of the list."""

    label: str
    detail: str = ""
    is_current: bool = False
    keywords: str = ""
    """More that a search finds it by."""


@dataclass(frozen=True, slots=True)
class Picked:
    """How the panel was left."""

    index: int
    """Of the items as given."""
    key: str
    """`enter`, or one of the panel's own keys."""


class ListPanel:
    """Typing searches, arrows move, Enter picks, Esc closes; own keys answer as well."""

    def __init__(
        self,
        title: str,
        items: Sequence[Item],
        *,
        question: str = "",
        selected: int = 0,
        keys: Collection[str] = (),
        hint: str = "",
        preview: Callable[[int, int], Sequence[Row]] | None = None,
        on_move: Callable[[int], None] = lambda _: None,
        on_adjust: Callable[[int], None] | None = None,
        empty: str = "nothing here yet",
    ) -> None:
        """`preview` takes an item and a width; `on_adjust` hears left (-1) and right (1)."""
        self._title = title
        self._items = items
        self._question = question
        self._keys = frozenset(keys)
        self._hint = hint or "type to search · ↑↓ enter · esc close"
        self._preview = preview
        self._on_move = on_move
        self._on_adjust = on_adjust
        self._empty = empty
        self._query = ""
        self._found = list(range(len(items)))
        self._at = min(selected, max(0, len(items) - 1))
        self._answered: Answered[Picked | None] = Answered()

    @property
    def is_done(self) -> bool:
        """Whether something was picked, or nothing."""
        return self._answered.is_done

    @property
    def selected(self) -> int | None:
        """The item under the sign; None where nothing is found."""
        return self._found[self._at] if self._found else None

    async def wait(self) -> Picked | None:
        """Return what was picked; None when the panel was closed."""
        return await self._answered.wait()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Take a key; letters search, so only keys that type nothing have other meanings."""
        if key in self._keys or key == "enter":
            if self.selected is not None:
                self._answered.give(Picked(self.selected, key))
        elif key == "escape":
            if self._query:
                self._search("")
            else:
                self._answered.give(None)
        elif key in {"left", "right"} and self._on_adjust is not None:
            self._on_adjust(1 if key == "right" else -1)
        elif key in _MOVES:
            self._move(_MOVES[key])
        elif key in {"backspace", "ctrl+h"}:
            self._search(self._query[:-1])
        elif key == "ctrl+u":
            self._search("")
        elif text and text.isprintable():
            self._search(self._query + text)
        elif action_id == "confirm:previous":
            self._move(-1)
        elif action_id == "confirm:next":
            self._move(1)

    def paste(self, text: str) -> None:
        """Search for what was pasted."""
        self._search(self._query + " ".join(text.split()))

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected one picks it."""
        if self.selected == choice:
            self._answered.give(Picked(choice, "enter"))
        elif choice in self._found:
            self._at = self._found.index(choice)
            self._on_move(choice)

    def view(self, width_cells: int) -> DialogView:
        """Return the panel at a width."""
        width = max(1, width_cells - 4)
        body: list[Row] = []
        if self._question:
            body += [row("   ", *line.runs) for line in wrap([(self._question, TEXT)], width)]
        if self._preview is not None and self.selected is not None:
            body += self._preview(self.selected, width_cells)
        title = ((self._title, Ink(Role.ACCENT, bold=True)),)
        return DialogView(title, body, [*self._rows(width_cells), self._foot(width_cells)])

    def _rows(self, width: int) -> list[FooterRow]:
        if not self._found:
            said = f"nothing found for {self._query!r}" if self._query else self._empty
            return [FooterRow(row(("   " + said, MUTED)))]
        first = max(0, min(self._at - SHOWN_ITEMS // 2, len(self._found) - SHOWN_ITEMS))
        shown = self._found[first : first + SHOWN_ITEMS]
        labels = {index: shown_line(self._items[index].label) for index in shown}
        column = min(max(text_width(label) for label in labels.values()) + 2, width // 2)
        rows = [FooterRow(BLANK, is_optional=True)]
        for index in shown:
            item, is_selected = self._items[index], index == self.selected
            ink = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
            sign: Run = (" ❯ " if is_selected else "   ", Ink(Role.ACCENT))
            mark: Run = ("● " if item.is_current else "", Ink(Role.SUCCESS))
            runs: list[Run] = [sign, mark, (labels[index], ink)]
            if item.detail:
                gap = column - text_width(labels[index]) - text_width(mark[0])
                runs += [(" " * max(2, gap), TEXT), (shown_line(item.detail), MUTED)]
            rows.append(FooterRow(row(*clip(runs, width - 1)), index, is_selected))
        return rows

    def _foot(self, width: int) -> FooterRow:
        count = f"{self._at + 1 if self._found else 0}/{len(self._found)}"
        searched: tuple[Run, ...] = ((f"search: {self._query}▏ ", TEXT),) if self._query else ()
        runs = [("   ", TEXT), *searched, (f"{self._hint} · {count}", MUTED)]
        return FooterRow(row(*clip(runs, width - 1), is_copied=False), is_optional=not self._query)

    def _move(self, step: int) -> None:
        if self._found:
            self._at = (self._at + step) % len(self._found)
            self._on_move(self._found[self._at])

    def _search(self, query: str) -> None:
        self._query = query
        words = query.casefold().split()
        self._found = [
            index
            for index, item in enumerate(self._items)
            if all(word in _searchable(item) for word in words)
        ]
        self._at = 0
        if self._found:
            self._on_move(self._found[0])


def _searchable(item: Item) -> str:
    return f"{item.label} {item.detail} {item.keywords}".casefold()


_MOVES: Final = {"up": -1, "down": 1, "ctrl+p": -1, "ctrl+n": 1}
