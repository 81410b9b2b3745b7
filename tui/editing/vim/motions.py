"""Vim's motions, as functions from a text and a cursor to another cursor. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import Struct

from tui.text.graphemes import left_of, right_of


class MotionTarget(Struct, frozen=True):
    """The cursor after a motion, and how an operator applies to the range up to it."""

    cursor: int
    is_inclusive: bool = False
    """Whether an operator includes the character at the target."""
    is_linewise: bool = False
    """Whether an operator applies to whole lines."""


Motion = Callable[[str, int, int], MotionTarget]
"""Takes text, cursor and count (at least 1); a motion that is not possible returns the cursor."""

CharClass = Literal["space", "word", "sign"]


def line_start(text: str, cursor: int) -> int:
    """Return the start of the cursor's line."""
    return text.rfind("\n", 0, cursor) + 1


def line_end(text: str, cursor: int) -> int:
    """Return the end of the cursor's line: the position of its line break, or the text's end."""
    end = text.find("\n", cursor)
    return len(text) if end < 0 else end


def first_character(text: str, cursor: int) -> int:
    """Return the first position of the cursor's line that is not a space or tab."""
    start, end = line_start(text, cursor), line_end(text, cursor)
    while start < end and text[start] in " \t":
        start += 1
    return start


def on_line(text: str, cursor: int) -> int:
    """Return the cursor as normal mode requires it: on a character, not after the last one."""
    cursor = max(0, min(cursor, len(text)))
    is_behind = cursor == line_end(text, cursor) and cursor > line_start(text, cursor)
    return left_of(text, cursor) if is_behind else cursor


def char_class(char: str, *, is_big: bool) -> CharClass:
    """Return the class of a character; with `is_big` everything except spaces is a word."""
    if char.isspace():
        return "space"
    return "word" if is_big or char.isalnum() or char == "_" else "sign"


def find_char(text: str, cursor: int, count: int, char: str, kind: str) -> int | None:
    """Return the target of `f`, `F`, `t` or `T` in the line; None if there is none."""
    start, end = line_start(text, cursor), line_end(text, cursor)
    place = cursor
    for _ in range(count):
        place = (
            text.find(char, place + 1, end)
            if kind in "ft"
            else text.rfind(char, start, max(place, 0))
        )
        if place < 0:
            return None
    match kind:
        case "t":
            return left_of(text, place)
        case "T":
            return right_of(text, place)
        case _:
            return place


def line_at(text: str, number: int) -> int:
    """Return the first non-blank of a line, counted from 1; at most that of the last line."""
    place = 0
    for _ in range(number - 1):
        following = text.find("\n", place)
        if following < 0:
            break
        place = following + 1
    return first_character(text, place)


def _left(text: str, cursor: int, count: int) -> MotionTarget:
    start = line_start(text, cursor)
    for _ in range(min(count, cursor - start)):
        cursor = max(start, left_of(text, cursor))
    return MotionTarget(cursor)


def _right(text: str, cursor: int, count: int) -> MotionTarget:
    end = line_end(text, cursor)
    for _ in range(min(count, end - cursor)):
        cursor = min(end, right_of(text, cursor))
    return MotionTarget(cursor)


def _vertical(step: int) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        column = cursor - line_start(text, cursor)
        place = cursor
        for _ in range(count):
            edge = line_start(text, place) if step < 0 else line_end(text, place)
            if (step < 0 and edge == 0) or (step > 0 and edge == len(text)):
                break
            place = edge + step
        start = line_start(text, place)
        return MotionTarget(min(start + column, line_end(text, start)), is_linewise=True)

    return move


def _word(*, is_big: bool) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        for _ in range(count):
            if cursor >= len(text):
                break
            kind = char_class(text[cursor], is_big=is_big)
            while cursor < len(text) and kind == char_class(text[cursor], is_big=is_big) != "space":
                cursor += 1
            while cursor < len(text) and text[cursor].isspace():
                cursor += 1
                # An empty line counts as a word.
                if text[cursor - 1 : cursor + 1] == "\n\n":
                    break
        return MotionTarget(cursor)

    return move


def _word_end(*, is_big: bool) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        for _ in range(count):
            place = cursor + 1
            while place < len(text) and text[place].isspace():
                place += 1
            if place >= len(text):
                cursor = max(cursor, len(text.rstrip()) - 1)
                break
            kind = char_class(text[place], is_big=is_big)
            while place + 1 < len(text) and char_class(text[place + 1], is_big=is_big) == kind:
                place += 1
            cursor = place
        return MotionTarget(cursor, is_inclusive=True)

    return move


def _word_back(*, is_big: bool) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        for _ in range(count):
            while cursor and text[cursor - 1].isspace():
                cursor -= 1
                if text[cursor : cursor + 1] == "\n" and text[cursor - 1 : cursor] == "\n":
                    break
            else:
                if cursor:
                    kind = char_class(text[cursor - 1], is_big=is_big)
                    while cursor and char_class(text[cursor - 1], is_big=is_big) == kind:
                        cursor -= 1
        return MotionTarget(cursor)

    return move


def _word_end_back(*, is_big: bool) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        for _ in range(count):
            if cursor < len(text):
                kind = char_class(text[cursor], is_big=is_big)
                while cursor and char_class(text[cursor], is_big=is_big) == kind != "space":
                    cursor -= 1
                    if char_class(text[cursor], is_big=is_big) != kind:
                        break
                else:
                    cursor = max(0, cursor - (kind == "space"))
            else:
                cursor = max(0, cursor - 1)
            # An empty line counts as a word.
            while cursor and text[cursor].isspace() and text[cursor - 1 : cursor + 1] != "\n\n":
                cursor -= 1
        return MotionTarget(cursor, is_inclusive=True)

    return move


def _line_end(text: str, cursor: int, count: int) -> MotionTarget:
    for _ in range(count - 1):
        following = line_end(text, cursor) + 1
        if following > len(text):
            break
        cursor = following
    return MotionTarget(
        max(line_start(text, cursor), line_end(text, cursor) - 1), is_inclusive=True
    )


def _next_paragraph(text: str, cursor: int, step: int) -> int:
    place = line_start(text, cursor)
    has_text = False
    while True:
        is_blank = line_end(text, place) == place
        if is_blank and has_text:
            return place
        has_text = has_text or not is_blank
        edge = place - 1 if step < 0 else line_end(text, place)
        if edge < 0 or edge >= len(text):
            return 0 if step < 0 else len(text)
        place = line_start(text, edge) if step < 0 else edge + 1


def _paragraph(step: int) -> Motion:
    def move(text: str, cursor: int, count: int) -> MotionTarget:
        for _ in range(count):
            cursor = _next_paragraph(text, cursor, step)
        return MotionTarget(cursor)

    return move


def _bracket(text: str, cursor: int, _count: int) -> MotionTarget:
    end = line_end(text, cursor)
    first = next((i for i in range(cursor, end) if text[i] in _PAIRS), None)
    if first is None:
        return MotionTarget(cursor)
    opening, step = text[first], _PAIRS[text[first]][1]
    closing, depth, place = _PAIRS[opening][0], 0, first
    while 0 <= place < len(text):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return MotionTarget(place, is_inclusive=True)
        place += step
    return MotionTarget(cursor)


_PAIRS: Final = {
    "(": (")", 1),
    "[": ("]", 1),
    "{": ("}", 1),
    ")": ("(", -1),
    "]": ("[", -1),
    "}": ("{", -1),
}

MOTIONS: Final[Mapping[str, Motion]] = {
    "h": _left,
    "l": _right,
    " ": _right,
    "j": _vertical(1),
    "k": _vertical(-1),
    "w": _word(is_big=False),
    "W": _word(is_big=True),
    "e": _word_end(is_big=False),
    "E": _word_end(is_big=True),
    "b": _word_back(is_big=False),
    "B": _word_back(is_big=True),
    "ge": _word_end_back(is_big=False),
    "gE": _word_end_back(is_big=True),
    "0": lambda text, cursor, _: MotionTarget(line_start(text, cursor)),
    "^": lambda text, cursor, _: MotionTarget(first_character(text, cursor)),
    "$": _line_end,
    "{": _paragraph(-1),
    "}": _paragraph(1),
    "%": _bracket,
}
"""Motions by key; `gg`, `G` and finds are in `targets`, since they need other arguments."""
