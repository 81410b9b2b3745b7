"""The task list above the prompt, shown by Ctrl+T."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.display import TodoItem
from tui.text.styled_rows import BLANK, MUTED, TEXT, Row, indent_rows, row
from tui.transcript.tool_card import todo_rows
from tui.widgets.rows_widget import RowsWidget

_SHOWN: Final = 5


class TodoPanel(RowsWidget):
    """Shows the first open items; nothing when the list is empty."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start without items."""
        super().__init__(id=id)
        self._items: tuple[TodoItem, ...] = ()

    def show(self, items: Sequence[TodoItem]) -> None:
        """Show other items."""
        if tuple(items) != self._items:
            self._items = tuple(items)
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return rows for the items in progress and the next ones."""
        if not self._items:
            return ()
        done_count = sum(item.status == "completed" for item in self._items)
        open_items = [item for item in self._items if item.status != "completed"]
        shown_items = open_items[:_SHOWN] or list(self._items[-_SHOWN:])
        pad = (("   ", TEXT),)
        rows = indent_rows(todo_rows(shown_items, max(1, width_cells - 4)), pad, pad)
        count = f"   {done_count} of {len(self._items)} done"
        hidden = len(open_items) - len(shown_items)
        more = f" · {hidden} more" if hidden > 0 else ""
        return [BLANK, *rows, row((count + more, MUTED), is_copied=False)]
