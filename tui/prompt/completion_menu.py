"""The completion menu below the prompt, for commands, files and arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from textual import events

from permissions.base.text.sanitize import reveal
from themes.theme import Role
from tui.prompt.word_completion import Completion
from tui.screen.width import text_width
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip, spread
from tui.widgets.rows_widget import RowsWidget

_SHOWN_ROWS: Final = 12
_FEW_ROWS: Final = 5
_ROWS_BESIDE: Final = 9
"""Rows left to the prompt, the status line and the transcript in a low screen."""
_COLUMN_CELLS: Final = 28
"""Maximum width of names with hints, so that descriptions are in the same column."""
_SIGNS: Final = {"command": "/", "file": "@", "shell": "!", "argument": ""}


class CompletionMenu(RowsWidget):
    """Shows some candidates around the selected one; empty while there are none."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start closed."""
        super().__init__(id=id)
        self.completion: Completion | None = None
        self.selected_index: int | None = 0
        """None: no candidate yet, so Enter sends the typed text."""
        self._first = 0
        """Index of the candidate in the first row."""
        self.offer_pressed: Callable[[], object] = lambda: None
        """Called when a candidate is clicked, which is then selected."""

    @property
    def is_open(self) -> bool:
        """Whether there are candidates."""
        return self.completion is not None

    def show(self, completion: Completion | None) -> None:
        """Show other candidates, with the first one selected; None closes the menu."""
        if completion != self.completion:
            self.completion = completion
            # A shell command runs as typed, unless the user selects another one.
            is_shell = completion is not None and completion.kind == "shell"
            self.selected_index = None if is_shell else 0
            self.rows_changed()

    def move(self, step: int) -> None:
        """Move the selection; it wraps around at both ends."""
        if self.completion is None:
            return
        count = len(self.completion.candidates)
        if self.selected_index is None:
            self.selected_index = 0 if step > 0 else count - 1
        else:
            self.selected_index = (self.selected_index + step) % count
        self.rows_changed()

    def on_click(self, event: events.Click) -> None:
        """Select the clicked candidate, and report it."""
        if self.completion is not None and self._first + event.y < len(self.completion.candidates):
            self.selected_index = self._first + event.y
            self.rows_changed()
            self.offer_pressed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the candidates that fit; the last row shows the position in the list."""
        if self.completion is None:
            return ()
        candidates = self.completion.candidates
        height = self.app.size.height
        room = min(_SHOWN_ROWS, max(1, height // 4, min(_FEW_ROWS, height - _ROWS_BESIDE)))
        first = max(0, min((self.selected_index or 0) - room // 2, len(candidates) - room))
        self._first = first
        labels = [reveal(c.label).replace("\n", "⏎") for c in candidates]
        hints = [f" {c.hint}" if c.hint else "" for c in candidates]
        widths = [text_width(name + hint) for name, hint in zip(labels, hints, strict=True)]
        column = min(max(widths), max(_COLUMN_CELLS, max(map(text_width, labels)))) + 2
        sign = _SIGNS[self.completion.kind]
        rows: list[Row] = []
        for index in range(first, min(first + room, len(candidates))):
            candidate = candidates[index]
            runs = _label_runs(sign + labels[index], is_selected=index == self.selected_index)
            runs += clip([(hints[index], MUTED)], column - 2 - text_width(labels[index]))
            if candidate.detail:
                cells = min(widths[index], column - 2)
                runs += [(" " * (column - cells), TEXT), (candidate.detail, MUTED)]
            line = clip(runs, width_cells - 1)
            if len(candidates) > room and index == first + room - 1:
                # On the last visible row, where users look for more.
                place = f" {(self.selected_index or 0) + 1}/{len(candidates)} ↕"
                line = spread(runs, [(place, MUTED)], width_cells - 1)
            rows.append(row(*line, is_copied=False))
        return rows


def _label_runs(label: str, *, is_selected: bool) -> list[Run]:
    ink = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
    return [(" ❯ " if is_selected else "   ", Ink(Role.ACCENT)), (label, ink)]
