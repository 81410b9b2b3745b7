"""Resolves a command's target: where a motion leads, and the range of an operator."""

from __future__ import annotations

from typing import Final

from tui.editing.vim.command import FINDS, Command
from tui.editing.vim.motions import (
    MOTIONS,
    MotionTarget,
    find_char,
    first_character,
    line_at,
    line_end,
    line_start,
)
from tui.editing.vim.objects import text_object
from tui.editing.vim.operators import OperatorSpan, lines_span
from tui.text.graphemes import right_of

_CHANGED_IF_EMPTY: Final = frozenset({"l", " ", "$", "w", "W", "0", "^", ";", ","})
"""Motions with which `c` enters insert mode even if there is nothing to delete."""


class Targets:
    """Resolves targets; stores the last `f`, `F`, `t` or `T` for `;` and `,`."""

    def __init__(self) -> None:
        """Start without a find to repeat."""
        self._find: tuple[str, str] | None = None

    def target(self, text: str, cursor: int, command: Command) -> MotionTarget | None:
        """Return the target of a motion; None if it is not possible."""
        keys = command.target
        if keys[0] in FINDS:
            self._find = (keys[0], keys[1])
            return _find_target(text, cursor, keys[0], keys[1], command.times)
        match keys:
            case ";" | ",":
                return self._repeat_find(text, cursor, command)
            case "gg":
                return MotionTarget(line_at(text, command.times), is_linewise=True)
            case "G":
                number = command.count or text.count("\n") + 1
                return MotionTarget(line_at(text, number), is_linewise=True)
            case _:
                return MOTIONS[keys](text, cursor, command.times)

    def span(self, text: str, cursor: int, command: Command) -> OperatorSpan | None:
        """Return the range of an operator; None if its target does not exist."""
        keys = command.target
        if keys == "line":
            last = MOTIONS["j"](text, cursor, command.count - 1) if command.count > 1 else None
            return lines_span(text, cursor, last.cursor if last else cursor)
        if keys[0] in "ia":
            span = text_object(text, cursor, keys[1], is_inner=keys[0] == "i", count=command.times)
            # A paragraph consists of whole lines.
            return OperatorSpan(*span, keys[1] == "p") if span is not None else None
        if command.verb == "c" and keys in {"w", "W"} and not text[cursor : cursor + 1].isspace():
            # Changing a word keeps the space after it.
            end = MOTIONS["e" if keys == "w" else "E"](text, cursor - 1, command.times)
            return OperatorSpan(cursor, right_of(text, max(cursor, end.cursor)))
        target = self.target(text, cursor, command)
        if target is None:
            return None
        if target.is_linewise:
            is_stuck = keys in {"j", "k"} and target.cursor == cursor
            return None if is_stuck else lines_span(text, cursor, target.cursor)
        low, high = min(cursor, target.cursor), max(cursor, target.cursor)
        if target.is_inclusive and high < len(text) and text[high] != "\n":
            high = right_of(text, high)
        if keys in {"w", "W"} and "\n" in text[low:high]:
            # The last word of a line excludes the line break.
            high = max(line_end(text, low), low + len(text[low:high].rstrip()))
        if keys in {"{", "}"} and low < high == line_start(text, high):
            # Exclude the line that the motion reaches; whole lines before it are linewise.
            high -= 1
            if low <= first_character(text, low):
                return lines_span(text, low, high)
        can_be_empty = command.verb == "c" and (keys in _CHANGED_IF_EMPTY or keys[0] in FINDS)
        return OperatorSpan(low, high) if low < high or can_be_empty else None

    def _repeat_find(self, text: str, cursor: int, command: Command) -> MotionTarget | None:
        if self._find is None:
            return None
        kind, char = self._find
        kind = kind if command.target == ";" else kind.swapcase()
        # Start at the adjacent character, or the repeat would find the same one again.
        start = cursor + {"t": 1, "T": -1}.get(kind, 0)
        return _find_target(text, start, kind, char, command.times)


def _find_target(text: str, cursor: int, kind: str, char: str, times: int) -> MotionTarget | None:
    place = find_char(text, cursor, times, char, kind)
    return None if place is None else MotionTarget(place, is_inclusive=kind in "ft")
