"""The line below the transcript in reading mode: the search, and the keys."""

from __future__ import annotations

from collections.abc import Sequence

from themes.theme import Role
from tui.screen.width import text_width
from tui.text.styled_rows import ACCENT, FAINT, MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import clip, runs_width
from tui.widgets.rows_widget import RowsWidget


class ReadingBar(RowsWidget):
    """Shown instead of the prompt; empty outside reading mode."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start empty."""
        super().__init__(id=id)
        self._query: str | None = None
        self._result_text = ""
        self._keys: Sequence[str] = ()
        self._is_open = False

    @property
    def is_open(self) -> bool:
        """Whether reading mode is active."""
        return self._is_open

    def show(self, query: str | None, result_text: str, keys: Sequence[str]) -> None:
        """Show the query being typed (None without one), the result of the search, and key hints.

        Hints that do not fit are left out, the last ones first.
        """
        self._query, self._result_text, self._keys, self._is_open = query, result_text, keys, True
        self.rows_changed()

    def close(self) -> None:
        """Hide the bar."""
        self._is_open = False
        self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return a rule and one row of text."""
        if not self._is_open:
            return ()
        rule = Row((("─" * width_cells, FAINT),), is_copied=False)
        runs: list[Run] = [(" Transcript ", Ink(Role.ACCENT, bold=True))]
        if self._query is not None:
            runs = [(" /", ACCENT), (self._query, TEXT), ("▏", ACCENT)]
        result: Run = (f"{self._result_text}  " if self._result_text else "", TEXT)
        room = width_cells - runs_width(runs) - runs_width([result]) - 2
        keys = list(self._keys)
        while keys and text_width(" · ".join(keys)) > room:
            keys.pop()
        right: list[Run] = [result, (" · ".join(keys), MUTED)]
        gap = max(1, width_cells - runs_width(runs) - runs_width(right) - 1)
        line = clip([*runs, (" " * gap, TEXT), *right], width_cells)
        return [rule, Row(tuple(line), is_copied=False)]
