"""The offers below the prompt while a command or a file is being typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.sanitize import reveal
from themes.theme import Role
from tui.completion import Completion
from tui.components.rows_widget import RowsWidget
from tui.text.ink import MUTED, TEXT, Ink, Row, Run, row
from tui.text.wrap import clip

_SHOWN_ROWS: Final = 6


class CompletionMenu(RowsWidget):
    """Shows some offers around the selected one; nothing while there are none."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start closed."""
        super().__init__(id=id)
        self.completion: Completion | None = None
        self.selected = 0

    @property
    def is_open(self) -> bool:
        """Whether there is something to choose."""
        return self.completion is not None

    def show(self, completion: Completion | None) -> None:
        """Show other offers, the first one selected."""
        if completion != self.completion:
            self.completion = completion
            self.selected = 0
            self.rows_changed()

    def move(self, step: int) -> None:
        """Select another offer; the list goes round."""
        if self.completion is not None:
            self.selected = (self.selected + step) % len(self.completion.candidates)
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the offers that fit."""
        if self.completion is None:
            return ()
        candidates = self.completion.candidates
        room = max(1, min(_SHOWN_ROWS, self.app.size.height // 4))
        first = max(0, min(self.selected - room // 2, len(candidates) - room))
        column = max(len(c.label) for c in candidates) + 2
        sign = "/" if self.completion.is_command else "@"
        rows: list[Row] = []
        for index in range(first, min(first + room, len(candidates))):
            candidate = candidates[index]
            is_selected = index == self.selected
            ink = Ink(Role.ACCENT, bold=True) if is_selected else TEXT
            label = sign + reveal(candidate.label)
            runs: list[Run] = [(" ❯ " if is_selected else "   ", Ink(Role.ACCENT)), (label, ink)]
            if candidate.detail:
                runs.append((" " * max(2, column - len(candidate.label)), TEXT))
                runs.append((candidate.detail, MUTED))
            rows.append(row(*clip(runs, width_cells - 1), is_copied=False))
        return rows
