"""A multi-line text editor for dialogs, which shows and preserves invisible characters.

Editing works as in the prompt (`tui.editing.text_buffer`). But the text is from a model, so it may
contain tabs, control and other invisible characters, which must be neither drawn as they are nor
lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.dialogs.dialog import FooterRow
from tui.editing.draft import LONG_CHARS, Chip, Draft, DraftPiece, free_chip_char, is_chip
from tui.editing.edit_keys import EDIT_KEYS
from tui.editing.edit_layout import EditRow, cursor_at, edit_rows, place_of
from tui.editing.text_buffer import TextBuffer
from tui.text.styled_rows import FAINT, TEXT, Ink, Row, Run

_NEAR_ROWS: Final = 60
"""Maximum number of rows before and after the cursor's row: more than fit in any dialog."""
_SIGN_CELLS: Final = 3
_TAB: Final = "→   "
_LINE_BREAKS: Final = frozenset({"ctrl+j", "shift+enter", "alt+enter", "ctrl+enter"})


class TextArea:
    """A text with a cursor, and its editing keys."""

    def __init__(self, text: str) -> None:
        """Start with a text of at most `LONG_CHARS` characters, the cursor at its end."""
        labeled_text, chips = _label_unseen(text, {})
        self._buffer = TextBuffer(Draft(labeled_text, len(labeled_text), chips))
        self._width_cells = 80

    @staticmethod
    def takes(text: str) -> bool:
        """Return whether a text is short enough to be laid out again after every key."""
        return len(text) <= LONG_CHARS

    @property
    def text(self) -> str:
        """The current text."""
        return self._buffer.draft.expanded_text

    def press(self, key: str, text: str) -> bool:
        """Handle a key; False if it is not an editing key."""
        edit = EDIT_KEYS.get(key) or _MORE_KEYS.get(key)
        if edit is not None:
            edit(self._buffer)
        elif key in _LINE_BREAKS:
            self._buffer.insert("\n")
        elif key in ("up", "down"):
            self._move_row(-1 if key == "up" else 1)
        elif key == "tab":
            self.paste("\t")
        elif text and text.isprintable():
            self._buffer.insert(text)
        else:
            return False
        return True

    def paste(self, text: str) -> bool:
        """Insert a text at the cursor; False, without inserting it, if the whole gets too long."""
        if not self.takes(self.text + text):
            return False
        labeled_text, chips = _label_unseen(text.replace("\r\n", "\n"), self._buffer.draft.chips)
        cursor = self._buffer.cursor
        self._buffer.put(cursor, cursor, DraftPiece(labeled_text, chips))
        return True

    def replace(self, text: str) -> None:
        """Replace the whole text."""
        labeled_text, chips = _label_unseen(text, {})
        self._buffer.load(Draft(labeled_text, len(labeled_text), chips))

    def rows(self, width_cells: int) -> list[FooterRow]:
        """Return the rows around the cursor, at most `_NEAR_ROWS` on either side of it."""
        self._width_cells = width_cells
        draft = self._buffer.draft
        lines = self._lines()
        number, column = place_of(lines, draft.cursor)
        first = max(0, number - _NEAR_ROWS)
        return [
            FooterRow(
                Row((_sign(is_first=line_index == 0), *_runs(draft, line))),
                is_selected=line_index == number,
                caret_cells=_SIGN_CELLS + column if line_index == number else None,
            )
            for line_index, line in enumerate(lines[first : number + _NEAR_ROWS], first)
        ]

    def _lines(self) -> list[EditRow]:
        draft = self._buffer.draft
        return edit_rows(draft.text, max(2, self._width_cells - _SIGN_CELLS - 1), draft.chips)

    def _move_row(self, step: int) -> None:
        lines = self._lines()
        number, column = place_of(lines, self._buffer.cursor)
        target_row = number + step
        if 0 <= target_row < len(lines):
            self._buffer.move_to(cursor_at(lines, target_row, column))
        elif step < 0:
            self._buffer.line_start()
        else:
            self._buffer.line_end()


def _label_unseen(text: str, chips: Mapping[str, Chip]) -> tuple[str, dict[str, Chip]]:
    """Return the text with chips for invisible characters, and all chips, including `chips`."""
    all_chips = dict(chips)
    char_by_content = {chip.content: char for char, chip in all_chips.items()}
    parts: list[str] = []
    for character, label_text in _shown_characters(text):
        if label_text is None:
            parts.append(character)
            continue
        if character not in char_by_content:
            char_by_content[character] = free_chip_char(all_chips)
            all_chips[char_by_content[character]] = Chip(0, character, label_text=label_text)
        parts.append(char_by_content[character])
    return "".join(parts), all_chips


def _shown_characters(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield each character with the label shown instead; None if it is shown as it is."""
    if text.isascii() and text.isprintable():
        yield from ((character, None) for character in text)
        return
    for index, character in enumerate(text):
        if character == "\t":
            yield character, _TAB
        elif is_chip(character):
            yield character, f"U+{ord(character):04X}"
        elif character == "\u200d" and _is_joining(text, index):
            yield character, None
        else:
            escaped_text = reveal(character)
            yield character, None if escaped_text == character else escaped_text


def _is_joining(text: str, index: int) -> bool:
    """Return whether the zero-width joiner at `index` joins two emoji."""
    surroundings = text[max(0, index - 1) : index + 2]
    return reveal(surroundings) == surroundings


def _sign(*, is_first: bool) -> Run:
    return (" ❯ ", Ink(Role.ACCENT, bold=True)) if is_first else ("   ", FAINT)


def _runs(draft: Draft, line: EditRow) -> list[Run]:
    runs: list[Run] = []
    plain = ""
    for character in draft.text[line.start : line.end]:
        chip = draft.chips.get(character)
        if chip is None:
            plain += character
            continue
        runs += [(plain, TEXT), (chip.label, Ink(Role.WARNING))]
        plain = ""
    return [run for run in (*runs, (plain, TEXT)) if run[0]]


_MORE_KEYS: Final[Mapping[str, Callable[[TextBuffer], None]]] = {
    "ctrl+underscore": TextBuffer.undo,
    "ctrl+z": TextBuffer.undo,
    "ctrl+home": TextBuffer.start,
    "ctrl+end": TextBuffer.end,
}
