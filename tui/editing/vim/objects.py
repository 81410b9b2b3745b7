"""Vim's text objects: the range of `iw`, `a"` or `i(` around a cursor. Pure."""

from __future__ import annotations

from tui.editing.vim.motions import char_class, line_end, line_start

OBJECT_KEYS = frozenset("wW\"'`()b[]{}B<>p")

_OPENING = {
    "(": "()",
    ")": "()",
    "b": "()",
    "[": "[]",
    "]": "[]",
    "{": "{}",
    "}": "{}",
    "B": "{}",
    "<": "<>",
    ">": "<>",
}


def text_object(
    text: str, cursor: int, key: str, *, is_inner: bool, count: int = 1
) -> tuple[int, int] | None:
    """Return start and end (exclusive) of an object; None if there is none.

    `is_inner` excludes the delimiters, or the spaces around a word. `count` is the number of
    words, or of pairs of brackets around the cursor; other objects have none.
    """
    if key in "wW":
        return _words(text, cursor, is_big=key == "W", is_inner=is_inner, count=count)
    if key in "\"'`":
        return _quote_object(text, cursor, key, is_inner=is_inner)
    if key == "p":
        return _paragraph(text, cursor, is_inner=is_inner)
    pair = _OPENING.get(key)
    return _bracket_object(text, cursor, pair, is_inner=is_inner, count=count) if pair else None


def _words(
    text: str, cursor: int, *, is_big: bool, is_inner: bool, count: int
) -> tuple[int, int] | None:
    span = _word(text, cursor, is_big=is_big, is_inner=is_inner)
    while span is not None and count > 1:
        following = _word(text, span[1], is_big=is_big, is_inner=is_inner)
        span, count = (span[0], following[1]) if following is not None else None, count - 1
    return span


def _word(text: str, cursor: int, *, is_big: bool, is_inner: bool) -> tuple[int, int] | None:
    low, high = line_start(text, cursor), line_end(text, cursor)
    if cursor >= high:
        return None
    start, end = _run(text, cursor, low, high, is_big=is_big)
    if is_inner:
        return start, end
    # "a word" includes the spaces after it, or else those before it; spaces, the word after them.
    if end < high and text[cursor].isspace() != text[end].isspace():
        return start, _run(text, end, low, high, is_big=is_big)[1]
    if start > low and text[start - 1].isspace():
        start = _run(text, start - 1, low, high, is_big=is_big)[0]
    return start, end


def _run(text: str, index: int, low: int, high: int, *, is_big: bool) -> tuple[int, int]:
    kind = char_class(text[index], is_big=is_big)
    start, end = index, index + 1
    while start > low and char_class(text[start - 1], is_big=is_big) == kind:
        start -= 1
    while end < high and char_class(text[end], is_big=is_big) == kind:
        end += 1
    return start, end


def _quote_object(text: str, cursor: int, quote: str, *, is_inner: bool) -> tuple[int, int] | None:
    low, high = line_start(text, cursor), line_end(text, cursor)
    places = [i for i in range(low, high) if text[i] == quote and text[i - 1 : i] != "\\"]
    for first, last in zip(places[::2], places[1::2], strict=False):
        if last >= cursor:
            return _inside(text, first, last, is_inner=is_inner)
    return None


def _inside(text: str, first: int, last: int, *, is_inner: bool) -> tuple[int, int]:
    if is_inner:
        return first + 1, last
    end = last + 1
    while end < len(text) and text[end] in " \t":
        end += 1
    while end == last + 1 and first and text[first - 1] in " \t":
        first -= 1
    return first, end


def _bracket_object(
    text: str, cursor: int, pair: str, *, is_inner: bool, count: int
) -> tuple[int, int] | None:
    opening, closing = pair[0], pair[1]
    # At the end of the text there is no character at the cursor.
    place = min(cursor, len(text) - 1)
    start: int | None = place
    if text[place : place + 1] != opening:
        start = _open_bracket(text, range(place - 1, -1, -1), opening, closing)
    # Outside all brackets, the next ones after the cursor are used.
    is_ahead = start is None
    for _ in range(count if is_ahead else count - 1):
        last = place if start is None else start
        places = range(last + 1, len(text)) if is_ahead else range(last - 1, -1, -1)
        start = _open_bracket(text, places, opening, closing)
        if start is None:
            return None
    assert start is not None
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] == opening) - (text[end] == closing)
        if depth == 0:
            return (start + 1, end) if is_inner else (start, end + 1)
    return None


def _open_bracket(text: str, places: range, opening: str, closing: str) -> int | None:
    """Return the first opening bracket whose closing bracket is not among the places before it."""
    depth = 0
    for place in places:
        if text[place] == closing:
            depth += 1
        elif text[place] == opening:
            if depth == 0:
                return place
            depth -= 1
    return None


def _paragraph(text: str, cursor: int, *, is_inner: bool) -> tuple[int, int]:
    lines = text.split("\n")
    number = text.count("\n", 0, cursor)
    is_blank = not lines[number].strip()
    first = last = number
    while first > 0 and (not lines[first - 1].strip()) == is_blank:
        first -= 1
    while last + 1 < len(lines) and (not lines[last + 1].strip()) == is_blank:
        last += 1
    if not is_inner:
        while last + 1 < len(lines) and (not lines[last + 1].strip()) != is_blank:
            last += 1
    start = sum(len(line) + 1 for line in lines[:first])
    end = start + sum(len(line) + 1 for line in lines[first : last + 1])
    return start, min(end, len(text))
