"""A panel with text that scrolls; it closes with Esc, Enter or q."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from permissions.base.text.late_pattern import compile_late
from themes.theme import Role
from tui.dialogs.dialog import DialogView, FooterRow, GivesAnswer, KeyHandling
from tui.input.actions import Context
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, row
from tui.text.wrap import wrap

_FAR: Final = 1_000_000
_MARK: Final = compile_late(r" *(?:[✓·✗•-] )?")
"""The mark before a line's text; continuation rows are indented by its width."""


class TextPanel(GivesAnswer[str | None]):
    """Shows rows; the answer is the key that closed it, or None."""

    key_handling = KeyHandling(
        (Context.HELP,),
        is_guarded=False,
        scroll_keys={
            "up": -1,
            "k": -1,
            "down": 1,
            "j": 1,
            "b": -10,
            "space": 10,
            "g": -_FAR,
            "home": -_FAR,
            "G": _FAR,
            "end": _FAR,
        },
    )

    def __init__(
        self,
        title: str,
        rows: Callable[[int], Sequence[Row]],
        *,
        follows_end: bool = False,
        keys: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """`rows` takes the width in cells. With `follows_end` the end is shown, also while it
        grows, and a question that opens later is shown first.

        `keys` are keys that close it with themselves as the answer, each with a description.
        """
        self.rows_in_front = 0
        """Number of rows that were added before those shown at first."""
        self.key_handling = replace(TextPanel.key_handling, steps_aside=follows_end)
        self._keys = keys
        self._title = title
        self._rows = rows
        self._follows_end = follows_end
        self.redraw: Callable[[], None] = lambda: None
        """Redraws the panel after its rows have changed; has no effect unless it is open."""
        super().__init__()

    def press(self, key: str, text: str, action_id: str | None) -> None:
        """Handle keys that close it; the host handles scrolling."""
        if key in self._keys:
            self.give(key)
        elif key in {"escape", "enter", "q"} or action_id in {"help:dismiss", "confirm:no"}:
            self.give(None)

    def paste(self, text: str) -> None:
        """Ignore pastes: there is no field."""

    def choose(self, choice: int) -> None:
        """Ignore clicks: there are no choices."""

    def view(self, width_cells: int) -> DialogView:
        """Return the panel at a width."""
        own = "".join(
            f" · {'del' if key == 'delete' else key} {does}" for key, does in self._keys.items()
        )
        text = f"   ↑↓ pgup/pgdn scroll{own} · esc close"
        foot = FooterRow(row((text, MUTED)), is_optional=True)
        title = ((self._title, Ink(Role.ACCENT, bold=True)),)
        rows = self._rows(width_cells)
        return DialogView(
            title,
            rows,
            [foot],
            follows_end=self._follows_end,
            rows_in_front=self.rows_in_front,
        )

    def changes_to(self, redraw: Callable[[], None]) -> None:
        """Set the function that redraws the panel."""
        self.redraw = redraw


def text_rows(text: str) -> Callable[[int], Sequence[Row]]:
    """Return a function that makes rows of a text for a width; control characters are revealed."""

    def rows(width_cells: int) -> list[Row]:
        lines: list[Row] = []
        room = max(1, width_cells - 4)
        for line in map(shown_line, text.split("\n")):
            mark = _MARK.match(line)
            hang = min(mark.end() if mark else 0, room // 2)
            first, *others = wrap([(line[hang:], TEXT)], room - hang)
            lines.append(row("   ", (line[:hang], TEXT), *first.runs))
            lines += [row(" " * (3 + hang), *part.runs) for part in others]
        return lines

    return rows
