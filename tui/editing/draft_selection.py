"""The selection in the text being edited, from its anchor to the cursor. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tui.editing.draft import Draft
from tui.editing.text_buffer import TextBuffer

_DELETING: Final = frozenset({"backspace", "ctrl+h", "delete"})
_CUTTING: Final = frozenset({"ctrl+w", "ctrl+k", "ctrl+u"})
_WORD_SIGNS: Final = frozenset("_-./~:@")
"""Punctuation in words that a double click selects: that of paths, addresses and names."""
_EDGES: Final[Mapping[str, int]] = {"left": -1, "right": 1}


class DraftSelection:
    """Is extended by moves made through it; any other move or change of the buffer ends it."""

    def __init__(self, buffer: TextBuffer) -> None:
        """Start without a selection."""
        self._buffer = buffer
        self._anchor = 0
        self._draft: Draft | None = None
        """The draft after the last extension; every move and every change makes another one."""

    @property
    def part(self) -> tuple[int, int] | None:
        """Start and end of the selection, in characters; None without one."""
        cursor = self._buffer.cursor
        if self._buffer.draft is not self._draft or cursor == self._anchor:
            return None
        return min(self._anchor, cursor), max(self._anchor, cursor)

    @property
    def text(self) -> str:
        """The selected text, with chips expanded; "" without a selection."""
        part = self.part
        if part is None:
            return ""
        piece = self._buffer.piece(*part)
        return "".join(
            piece.chips[char].content if char in piece.chips else char for char in piece.text
        )

    def extend(self, move: Callable[[], object]) -> None:
        """Call `move` and extend the selection to the new cursor; starts one if there is none."""
        if self._buffer.draft is not self._draft:
            self._anchor = self._buffer.cursor
        move()
        self._draft = self._buffer.draft

    def mark_word(self, place: int) -> None:
        """Select the word at a position, or a run of equal characters between words."""
        text = self._buffer.text
        start = end = min(place, max(0, len(text) - 1))
        kind = click_kind(text[start : start + 1])
        while start > 0 and click_kind(text[start - 1]) == kind:
            start -= 1
        while end < len(text) and click_kind(text[end]) == kind:
            end += 1
        self._mark(start, end)

    def mark_line(self, place: int) -> None:
        """Select the line at a position."""
        text = self._buffer.text
        end = text.find("\n", place)
        self._mark(text.rfind("\n", 0, place) + 1, len(text) if end < 0 else end)

    def _mark(self, start: int, end: int) -> None:
        self.drop()
        self._buffer.move_to(start)
        self.extend(lambda: self._buffer.move_to(end))

    def drop(self) -> None:
        """Clear the selection."""
        self._draft = None

    def press(self, key: str) -> bool:
        """Handle a key with a special effect on a selection; False for any other.

        Such a key deletes, cuts or replaces the selection, or goes to its start or end.
        """
        part = self.part
        if part is None:
            return False
        if key in _DELETING:
            self._buffer.put(*part)
        elif key in _CUTTING:
            self._buffer.kill(*part, is_run=False)
        elif key == "ctrl+y":
            self.replaced_by(TextBuffer.yank)
        elif key in _EDGES:
            self._buffer.move_to(part[0] if _EDGES[key] < 0 else part[1])
        else:
            return False
        return True

    def replaced_by(self, change: Callable[[TextBuffer], None]) -> None:
        """Remove the selection, if any, and apply `change`, as one undo step."""
        part = self.part
        if part is None:
            change(self._buffer)
            return
        old_draft = self._buffer.begin_step()
        self._buffer.put(*part)
        change(self._buffer)
        self._buffer.end_step(old_draft)


def click_kind(character: str) -> str:
    """Return the kind of a character; a double click selects a run of one kind."""
    return "word" if character.isalnum() or character in _WORD_SIGNS else character
