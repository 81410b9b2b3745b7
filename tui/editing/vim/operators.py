"""Vim's operators on a part of the text: delete, change, copy, indent, join, switch case."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from tui.editing.draft import DraftPiece
from tui.editing.text_buffer import TextBuffer
from tui.editing.vim.motions import first_character, line_end, line_start
from tui.editing.vim.register import VimRegister, copy_register
from tui.text.graphemes import right_of

INDENT: Final = "  "


class OperatorSpan(Struct, frozen=True):
    """The range of an operator; if linewise, from the start of a line to the end of one."""

    start: int
    end: int
    """Exclusive."""
    is_linewise: bool = False


def lines_span(text: str, first: int, last: int) -> OperatorSpan:
    """Return the whole lines between two positions, including the last one's line break."""
    low, high = min(first, last), max(first, last)
    return OperatorSpan(line_start(text, low), min(len(text), line_end(text, high) + 1), True)


def delete(buffer: TextBuffer, span: OperatorSpan) -> VimRegister:
    """Cut the span and return it."""
    text = buffer.text
    register = copy_register(buffer, span.start, span.end, is_linewise=span.is_linewise)
    start = span.start
    if span.is_linewise and start and not text[start : span.end].endswith("\n"):
        # The last line is deleted together with the line break before it.
        start -= 1
    buffer.put(start, span.end, DraftPiece(""))
    if span.is_linewise:
        buffer.move_to(first_character(buffer.text, min(start, len(buffer.text))))
    return register


def change(buffer: TextBuffer, span: OperatorSpan) -> VimRegister:
    """Cut the span and put the cursor there for typing; whole lines leave an empty line."""
    register = copy_register(buffer, span.start, span.end, is_linewise=span.is_linewise)
    end = span.end
    if span.is_linewise and buffer.text[span.start : end].endswith("\n"):
        end -= 1
    buffer.put(span.start, end, DraftPiece(""))
    buffer.move_to(span.start)
    return register


def yank(buffer: TextBuffer, span: OperatorSpan) -> VimRegister:
    """Copy the span; the cursor moves to its start."""
    buffer.move_to(span.start)
    return copy_register(buffer, span.start, span.end, is_linewise=span.is_linewise)


def indent(buffer: TextBuffer, span: OperatorSpan, *, steps: int) -> None:
    """Indent the lines of a span by `steps`; a negative number reduces the indentation."""

    def shift_line(line: str) -> str:
        if steps > 0:
            return INDENT * steps + line if line else line
        spaces = len(line) - len(line.lstrip(" "))
        return line[min(spaces, -steps * len(INDENT)) :]

    _each_line(buffer, span, shift_line)


def join(buffer: TextBuffer, first: int, last: int) -> None:
    """Join the lines between two positions, with one space between them."""
    text = buffer.text
    start, end = line_start(text, first), line_end(text, last)
    if "\n" not in text[start:end] and end < len(text):
        end = line_end(text, end + 1)
    head, *rest = text[start:end].split("\n")
    whole_line, place = head, len(head)
    for line in rest:
        part = line.lstrip(" \t")
        place = len(whole_line)
        is_tight = not part or not whole_line or whole_line.endswith(" ") or part.startswith(")")
        gap = "" if is_tight else " "
        whole_line += gap + part
    if rest:
        buffer.put(start, end, DraftPiece(whole_line))
        buffer.move_to(start + place)


def switch_case(buffer: TextBuffer, span: OperatorSpan, change_text: Callable[[str], str]) -> None:
    """Apply a change of case to a span; the cursor moves to its start."""
    buffer.put(span.start, span.end, DraftPiece(change_text(buffer.text[span.start : span.end])))
    buffer.move_to(span.start)


def replace(buffer: TextBuffer, char: str, times: int) -> None:
    """Replace `times` characters of the line with `char`; do nothing if there are fewer."""
    start, end = buffer.cursor, buffer.cursor
    for _ in range(times):
        if end >= line_end(buffer.text, start):
            return
        end = right_of(buffer.text, end)
    buffer.put(start, end, DraftPiece(char * times))
    buffer.move_to(start + len(char) * (times - 1))


def open_insert(buffer: TextBuffer, verb: str) -> None:
    """Put the cursor where `i I a A o O` insert text; `o` and `O` open a line."""
    text, cursor = buffer.text, buffer.cursor
    match verb:
        case "a" if cursor < line_end(text, cursor):
            buffer.move_to(right_of(text, cursor))
        case "A":
            buffer.move_to(line_end(text, cursor))
        case "I":
            buffer.move_to(first_character(text, cursor))
        case "o":
            place = line_end(text, cursor)
            buffer.put(place, place, DraftPiece("\n"))
        case "O":
            place = line_start(text, cursor)
            buffer.put(place, place, DraftPiece("\n"))
            buffer.move_to(place)
        case _:
            pass


def _each_line(buffer: TextBuffer, span: OperatorSpan, change_line: Callable[[str], str]) -> None:
    text = buffer.text
    start = line_start(text, span.start)
    last = max(span.start, span.end - 1) if span.end > span.start else span.end
    end = line_end(text, last)
    if text[last : last + 1] == "\n":
        end = last
    lines = text[start:end].split("\n")
    buffer.put(start, end, DraftPiece("\n".join(change_line(line) for line in lines)))
    buffer.move_to(first_character(buffer.text, start))


CASES: Final = {"~": str.swapcase, "u": str.lower, "U": str.upper}
