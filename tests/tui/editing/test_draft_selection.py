"""Marking a part of the prompt: grows with its moves, ends with any other, gives way to typing."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editing.draft import CHIP_CHARS, Draft
from tui.editing.draft_selection import DraftSelection
from tui.editing.text_buffer import TextBuffer


def marked(
    text: str, cursor: int, *moves: Callable[[TextBuffer], None]
) -> tuple[TextBuffer, DraftSelection]:
    buffer = TextBuffer(Draft(text, cursor))
    mark = DraftSelection(buffer)
    for move in moves:
        mark.extend(partial(move, buffer))
    return buffer, mark


def test_it_grows_and_shrinks_from_where_it_began() -> None:
    buffer, mark = marked("one two", 3, TextBuffer.right, TextBuffer.right)
    assert mark.text == " t"
    for _ in range(3):
        mark.extend(buffer.left)
    assert mark.part == (2, 3)
    mark.extend(buffer.right)
    assert mark.part is None, "back where it began, nothing is marked"


@pytest.mark.parametrize("change", [TextBuffer.left, TextBuffer.line_end, TextBuffer.backspace])
def test_any_other_move_ends_it(change: Callable[[TextBuffer], None]) -> None:
    buffer, mark = marked("one two", 3, TextBuffer.right)
    change(buffer)
    assert mark.part is None
    assert mark.text == ""


def test_what_is_typed_takes_its_place_as_one_step() -> None:
    buffer, mark = marked("one two", 0, TextBuffer.word_right)
    mark.replaced_by(lambda b: b.insert("1"))
    assert (buffer.text, buffer.cursor) == ("1 two", 1)
    buffer.undo()
    assert buffer.text == "one two"
    assert mark.text == "one", "undone, it is as it was"
    buffer.redo()
    assert buffer.text == "1 two"


@pytest.mark.parametrize(
    ("key", "text", "cursor"),
    [
        ("backspace", "o two", 1),
        ("delete", "o two", 1),
        ("ctrl+w", "o two", 1),
        ("left", "one two", 1),
        ("right", "one two", 3),
    ],
)
def test_keys_that_mean_something_else_with_a_mark(key: str, text: str, cursor: int) -> None:
    buffer, mark = marked("one two", 1, TextBuffer.right, TextBuffer.right)
    assert mark.press(key)
    assert (buffer.text, buffer.cursor) == (text, cursor)
    assert not mark.press(key)


def test_what_was_cut_can_be_yanked_in_place_of_another_mark() -> None:
    buffer, mark = marked("one two", 0, TextBuffer.word_right)
    mark.press("ctrl+w")
    buffer.right()
    mark.extend(buffer.word_right)
    assert mark.press("ctrl+y")
    assert buffer.text == " one"


def test_a_marked_paste_is_copied_in_full() -> None:
    buffer = TextBuffer()
    mark = DraftSelection(buffer)
    long = "x" * (CHIP_CHARS + 1)
    buffer.insert("a")
    buffer.paste(long)
    mark.extend(buffer.line_start)
    assert mark.text == "a" + long


MOVES = {
    "left": TextBuffer.left, "right": TextBuffer.right, "word_left": TextBuffer.word_left,
    "word_right": TextBuffer.word_right, "line_start": TextBuffer.line_start,
    "line_end": TextBuffer.line_end,
}  # fmt: skip


@given(
    text=st.text(alphabet="ab \n👩‍👧é", max_size=12),
    at=st.integers(0, 12),
    moves=st.lists(st.sampled_from(sorted(MOVES)), max_size=8),
)
def test_replacing_leaves_what_is_outside_alone(text: str, at: int, moves: list[str]) -> None:
    buffer, mark = marked(text, min(at, len(text)), *(MOVES[name] for name in moves))
    start, end = mark.part or (buffer.cursor, buffer.cursor)
    mark.replaced_by(lambda b: b.insert("Z"))
    assert buffer.text == text[:start] + "Z" + text[end:]
    buffer.undo()
    assert buffer.text == text
