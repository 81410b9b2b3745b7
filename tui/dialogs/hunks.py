"""Splits a proposed change into hunks, of which the user chooses some; independent of Textual.

Next: `permission`, where the choice is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from agent.display import DiffDisplay
from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow
from tui.screen.width import text_width
from tui.text.highlight import Highlighter, language_of
from tui.text.safe_text import shown_display
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip
from tui.transcript.diff.diff_view import DiffLine, diff_line_rows, diff_texts

CONTEXT_LINES: Final = 3
_INDENT: Final = 3
_AFTER_LINE: Final = compile_late(r"(?<=\n)")

HunkStep = Literal["goes_on", "back", "done"]


class Hunk(Struct, frozen=True):
    """One hunk of a change: the removed and the added lines."""

    start: int
    """Number of lines of the old text before it."""
    new_start: int
    """Number of lines of the new text before it if all hunks are taken."""
    removed_count: int
    added_lines: tuple[str, ...]
    """The added lines, with their line breaks."""
    lines: tuple[DiffLine, ...]
    """The rows that show it."""


def split_change(display: DiffDisplay) -> tuple[Hunk, ...]:
    """Return the hunks of a change in order; () if it cannot be split.

    Shown text has hidden characters revealed; a text whose lines differ then cannot be split.
    """
    clean = shown_display(display)
    assert isinstance(clean, DiffDisplay)
    old, new = _lines(display.old), _lines(display.new)
    if len(old) != len(clean.old.splitlines()) or len(new) != len(clean.new.splitlines()):
        return ()
    hunks: list[Hunk] = []
    drift = 0
    for lines in diff_texts(clean.old, clean.new, 0).hunks:
        new_rows = [line.new_number for line in lines if line.kind == "added" and line.new_number]
        old_rows = [line.old_number for line in lines if line.kind == "removed" and line.old_number]
        start = old_rows[0] - 1 if old_rows else new_rows[0] - 1 - drift
        texts = tuple(new[number - 1] for number in new_rows)
        hunks.append(Hunk(start, start + drift, len(old_rows), texts, lines))
        drift += len(new_rows) - len(old_rows)
    return tuple(hunks)


def chosen_text(display: DiffDisplay, hunks: Sequence[Hunk], is_taken: Sequence[bool]) -> str:
    """Return the new text with the taken hunks, and the old lines instead of the others."""
    if all(is_taken):
        return display.new
    if not any(is_taken):
        return display.old
    old = _lines(display.old)
    lines: list[str] = []
    next_line = 0
    for hunk, is_in in zip(hunks, is_taken, strict=True):
        lines += old[next_line : hunk.start]
        lines += hunk.added_lines if is_in else old[hunk.start : hunk.start + hunk.removed_count]
        next_line = hunk.start + hunk.removed_count
    lines += old[next_line:]
    # Only the last line of a text may lack its line break.
    whole = [line if line.endswith("\n") else line + "\n" for line in lines[:-1]]
    return "".join([*whole, *lines[-1:]])


def _lines(text: str) -> list[str]:
    """Return lines with their line feeds, which alone separate lines."""
    return [line for line in _AFTER_LINE.split(text) if line]


class HunkChoice:
    """The choice of hunks of a change; all are taken at first, and Space toggles one."""

    def __init__(
        self, display: DiffDisplay, hunks: Sequence[Hunk], highlighter: Highlighter
    ) -> None:
        """`hunks` are those of `split_change`, not empty."""
        self._display = display
        self._hunks = hunks
        self._highlighter = highlighter
        self._is_taken = [True] * len(hunks)
        self._index = 0

    @property
    def text(self) -> str:
        """The file's text with the taken hunks."""
        return chosen_text(self._display, self._hunks, self._is_taken)

    @property
    def taken_count(self) -> int:
        """Number of taken hunks."""
        return sum(self._is_taken)

    def press(self, key: str, action_id: str | None) -> HunkStep:
        """Handle a key: move, mark, or end the choice."""
        match key, action_id:
            case ["escape", _]:
                return "back"
            case ["enter", _]:
                return "done" if self.taken_count else "goes_on"
            case ["a", _]:
                self._is_taken = [not all(self._is_taken)] * len(self._hunks)
            case [_, "confirm:previous"]:
                self._index = (self._index - 1) % len(self._hunks)
            case [_, "confirm:next" | "confirm:nextField"]:
                self._index = (self._index + 1) % len(self._hunks)
            case [_, "confirm:toggle"]:
                self._is_taken[self._index] = not self._is_taken[self._index]
            case ["y" | "n", _]:
                self._mark(is_taken=key == "y")
            case _:
                pass
        return "goes_on"

    def _mark(self, *, is_taken: bool) -> None:
        """Take or leave the selected hunk and move to the next, as `git add -p` does."""
        self._is_taken[self._index] = is_taken
        self._index = min(self._index + 1, len(self._hunks) - 1)

    def choose(self, index: int) -> None:
        """A click selects a hunk; a click on the selected one toggles it."""
        if index == self._index:
            self._is_taken[index] = not self._is_taken[index]
        else:
            self._index = index

    def view(self, title: tuple[Run, ...], width_cells: int) -> DialogView:
        """Return the selected hunk with its context, and the list of all hunks."""
        question = f"Make {self.taken_count} of {len(self._hunks)} changes?"
        hint = "space or y n take · a all · enter confirm · esc back"
        pad: Run = (" " * _INDENT, TEXT)
        footer = [
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(pad, (question, Ink(bold=True)))),
            *(self._row(index, width_cells) for index in range(len(self._hunks))),
            FooterRow(BLANK, is_optional=True),
            FooterRow(row(*clip([pad, (hint, MUTED)], width_cells - 1)), is_optional=True),
        ]
        hunk = self._hunks[self._index]
        context_count = min(CONTEXT_LINES, hunk.start)
        body_id = f"part {self._index}"
        return DialogView(title, self._body(width_cells), footer, body_id, first_row=context_count)

    def _row(self, index: int, width_cells: int) -> FooterRow:
        hunk, is_selected = self._hunks[index], index == self._index
        sign: Run = (" ❯ " if is_selected else "   ", Ink(Role.ACCENT, bold=True))
        box: Run = ("☑ ", Ink(Role.SUCCESS)) if self._is_taken[index] else ("☐ ", MUTED)
        first_line = next((line.text.strip() for line in hunk.lines if line.text.strip()), "")
        number = hunk.start + 1
        counts = f"line {number}  +{len(hunk.added_lines)} −{hunk.removed_count}"
        gap = " " * max(2, 22 - text_width(counts))
        ink = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
        runs = clip([sign, box, (counts, ink), (gap, TEXT), (first_line, MUTED)], width_cells - 1)
        return FooterRow(Row(tuple(runs)), index, is_selected)

    def _body(self, width_cells: int) -> list[Row]:
        clean = shown_display(self._display)
        assert isinstance(clean, DiffDisplay)
        hunk = self._hunks[self._index]
        old = clean.old.splitlines()
        end = hunk.start + hunk.removed_count
        language = language_of(clean.path)
        old_lines = self._highlighter.block(clean.old, language)
        new_lines = self._highlighter.block(clean.new, language)
        digits = len(str(len(old) + len(hunk.added_lines)))
        drift = hunk.new_start - hunk.start
        lines = [
            *_unchanged_lines(old, max(0, hunk.start - CONTEXT_LINES), hunk.start, drift),
            *hunk.lines,
            *_unchanged_lines(
                old, end, end + CONTEXT_LINES, drift + len(hunk.added_lines) - hunk.removed_count
            ),
        ]
        return [
            part
            for line in lines
            for part in diff_line_rows(line, old_lines, new_lines, digits, width_cells, _INDENT)
        ]


def _unchanged_lines(old: Sequence[str], first: int, end: int, drift: int) -> list[DiffLine]:
    rows = range(first, min(end, len(old)))
    return [DiffLine("same", i + 1, i + 1 + drift, old[i]) for i in rows]
