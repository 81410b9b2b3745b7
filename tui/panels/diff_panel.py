"""A panel with changed files from several sources, such as git and prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.input.actions import Context
from tui.screen.width import text_width
from tui.text.safe_text import shown_line
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip

SHOWN_FILES: Final = 12
_CONTEXTS: Final = (Context.DIFF_DIALOG, Context.SELECT)
_FAR: Final = 1_000_000
_IN_LIST: Final = "Type a number to read a file{}, or esc."
_IN_FILE: Final = "Type left or right for another file, or esc to go back."
_PAGER: Final = {
    "up": -1,
    "k": -1,
    "down": 1,
    "j": 1,
    "space": 10,
    "b": -10,
    "g": -_FAR,
    "G": _FAR,
}


class ChangedFile(Struct, frozen=True):
    """A changed file of a source."""

    path: str
    added_count: int
    removed_count: int
    rows: Callable[[int], Sequence[Row]]
    """Returns the rows of its change for a width in cells."""


class Source(Struct, frozen=True):
    """A group of changed files."""

    title: str
    files: Sequence[ChangedFile]
    note: str = "no changes"
    """Shown if there are no files."""


class DiffPanel(GivesAnswer[None]):
    """Left and right change the source, up and down the file, Enter opens it, Esc goes back."""

    def __init__(self, sources: Sequence[Source]) -> None:
        """Start with the first of `sources`, which are not empty."""
        self._sources = sources
        self._source = 0
        self._file = 0
        self._is_open = False
        self._row_cache: tuple[tuple[int, int, int], Sequence[Row]] | None = None
        """The rows of the open file, with their source, file and width, since each key redraws."""
        self._redraw: Callable[[], None] = lambda: None
        super().__init__()

    def replace(self, sources: Sequence[Source]) -> None:
        """Show other sources, from the first one on."""
        self._sources = sources
        self._source = self._file = 0
        self._row_cache = None
        self._redraw()

    def changes_to(self, redraw: Callable[[], None]) -> None:
        """Set the function that redraws the panel after a change without a key."""
        self._redraw = redraw

    @property
    def key_handling(self) -> KeyHandling:
        """How it handles keys: an open file also has a pager's keys."""
        return KeyHandling(_CONTEXTS, is_guarded=False, scroll_keys=_PAGER if self._is_open else {})

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle a key: move, open a file, or go back."""
        match action_id or _KEYS.get(key) or _KEYS.get(text):
            case "diff:dismiss" | "diff:back" | "select:cancel" | "confirm:no":
                if self._is_open:
                    self._is_open = False
                else:
                    self.give(None)
            case "diff:viewDetails" | "select:accept" | "confirm:yes":
                self._is_open = not self._is_open and bool(self._files)
            case "diff:previousSource":
                self._go(-1)
            case "diff:nextSource":
                self._go(1)
            case "diff:previousFile" | "select:previous" | "confirm:previous":
                self._move(-1)
            case "diff:nextFile" | "select:next" | "confirm:next":
                self._move(1)
            case _:
                pass

    def paste(self, text: str) -> None:
        """Ignore pastes: there is no field."""

    def choose(self, choice: int) -> None:
        """A click selects; a click on the selected file opens it."""
        self._is_open = choice == self._file
        self._file = choice

    def view(self, width_cells: int) -> DialogView:
        """Return the list, or the open file."""
        source = self._sources[self._source]
        place: tuple[Run, ...] = ()
        if len(self._sources) > 1:
            number = f"{self._source + 1}/{len(self._sources)}"
            place = ((" ", MUTED), (" ◂ ", MUTED), (number, MUTED), (" ▸", MUTED))
        if self._is_open and self._files:
            file = self._files[self._file]
            heading = shown_line(f"{file.path}")
            count = f"  {self._file + 1}/{len(self._files)}"
            hint = "↑↓ pgup/pgdn scroll · ←→ other file · esc back"
            file_title: tuple[Run, ...] = ((heading, Ink(Role.ACCENT, bold=True)), (count, MUTED))
            body = self._rows_of(file, width_cells) or [row("   ", ("no lines to show", MUTED))]
            identity = f"{self._source} {self._file}"
            foot = [BLANK_FOOT, _footer_row(hint, width_cells)]
            return DialogView(file_title, body, foot, identity, in_lines=_IN_FILE)
        title = ((shown_line(source.title), Ink(Role.ACCENT, bold=True)), *place)
        hint = "↑↓ enter show" + (" · ←→ commit, or prompts" if place else "")
        rows = (
            self._file_rows(width_cells) if self._files else [_footer_row(source.note, width_cells)]
        )
        foot = [BLANK_FOOT, *rows, _footer_row(hint + " · esc close", width_cells)]
        instructions = _IN_LIST.format(", left or right for other changes" if place else "")
        return DialogView(title, (), foot, in_lines=instructions)

    def _rows_of(self, file: ChangedFile, width: int) -> Sequence[Row]:
        place = (self._source, self._file, width)
        if self._row_cache is None or self._row_cache[0] != place:
            self._row_cache = place, file.rows(width)
        return self._row_cache[1]

    @property
    def _files(self) -> Sequence[ChangedFile]:
        return self._sources[self._source].files

    def _go(self, step: int) -> None:
        if self._is_open:
            self._move(step)
            return
        self._source = (self._source + step) % len(self._sources)
        self._file = 0

    def _move(self, step: int) -> None:
        if self._files:
            self._file = (self._file + step) % len(self._files)

    def _file_rows(self, width: int) -> list[FooterRow]:
        first = max(0, min(self._file - SHOWN_FILES // 2, len(self._files) - SHOWN_FILES))
        indexes = range(first, min(first + SHOWN_FILES, len(self._files)))
        names = {index: shown_line(self._files[index].path) for index in indexes}
        column = min(max(map(text_width, names.values())) + 2, max(8, width - 20))
        rows: list[FooterRow] = []
        for index in indexes:
            file, is_selected = self._files[index], index == self._file
            ink = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
            runs: list[Run] = [
                (" ❯ " if is_selected else "   ", Ink(Role.ACCENT)),
                *clip([(names[index], ink)], column),
                (" " * max(2, column - text_width(names[index])), TEXT),
            ]
            if file.added_count or file.removed_count:
                runs.append((f"+{file.added_count}", Ink(Role.DIFF_ADDED_SIGN)))
                runs.append((f" −{file.removed_count}", Ink(Role.DIFF_REMOVED_SIGN)))
            rows.append(FooterRow(row(*clip(runs, width - 1)), index, is_selected))
        hidden = len(self._files) - len(rows)
        if hidden:
            rows.append(_footer_row(f"{hidden} more", width))
        return rows


def _footer_row(text: str, width: int) -> FooterRow:
    return FooterRow(row(*clip([("   ", TEXT), (text, MUTED)], width - 1)), is_optional=True)


BLANK_FOOT: Final = FooterRow(BLANK, is_optional=True)
_KEYS: Final = {
    "escape": "diff:dismiss",
    "q": "diff:dismiss",
    "enter": "diff:viewDetails",
    "left": "diff:previousSource",
    "right": "diff:nextSource",
    "up": "diff:previousFile",
    "down": "diff:nextFile",
}
"""Keys that work independent of the keymap, so that the panel can always be closed."""
