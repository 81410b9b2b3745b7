"""A terminal with a scrollback, as the inline mode needs one."""

from __future__ import annotations

from typing import Any

from benchmarks.terminal import Emulator


class ScrollbackEmulator(Emulator):
    """Keeps the rows that leave the normal screen at its top."""

    def __init__(self, columns: int, lines: int) -> None:
        self.scrolled: list[str] = []
        super().__init__(columns, lines)

    def index(self) -> None:
        """Go to the next row; at the bottom the first one scrolls away."""
        if self.cursor.y == self.lines - 1 and not self.is_alternate:
            self.scrolled.append(self.row_text(0))
        super().index()

    def set_mode(self, *modes: int, **options: Any) -> None:
        """Keep the cursor's place of the normal screen."""
        if options.get("private") and 1049 in modes:
            self.save_cursor()
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        """Put the cursor back where it was on the normal screen."""
        super().reset_mode(*modes, **options)
        if options.get("private") and 1049 in modes:
            self.restore_cursor()

    def whole(self) -> str:
        """Return scrollback and screen, one line per row, without blank rows at the end."""
        return "\n".join([*self.scrolled, self.text()]).rstrip()
