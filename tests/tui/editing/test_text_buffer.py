"""Editing the prompt: readline keys, kill ring, undo, pastes as chips."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editing.draft import CHIP_CHARS, CHIP_LINES
from tui.editing.edit_layout import cursor_at, edit_rows, place_of
from tui.editing.text_buffer import TextBuffer
from tui.screen.width import text_width


def typed(text: str, *steps: Callable[[TextBuffer], None]) -> TextBuffer:
    buffer = TextBuffer()
    buffer.insert(text)
    for step in steps:
        step(buffer)
    return buffer


def seen(buffer: TextBuffer) -> str:
    return f"{buffer.text[: buffer.cursor]}|{buffer.text[buffer.cursor :]}"


B = TextBuffer


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        ("one two", [B.word_left], "one |two"),
        ("one two", [B.word_left, B.word_left, B.word_right], "one| two"),
        ("one two", [B.kill_word_left], "one |"),
        ("a b.c", [lambda b: b.kill_word_left(to_space=True)], "a |"),
        ("one\ntwo", [B.line_start, B.kill_to_line_end], "one\n|"),
        ("one\ntwo", [B.line_start, B.kill_to_line_start], "one|two"),
        ("one two", [B.kill_word_left, B.kill_word_left, B.yank], "one two|"),
        ("one two", [B.kill_word_left, B.start, B.kill_word_right, B.yank, B.yank_older], "two| "),
        ("a👩‍💻", [B.left], "a|👩‍💻"),
        ("a👩‍💻", [B.backspace], "a|"),
        ("é", [B.start, B.delete], "|"),
        ("one", [B.clear], "|"),
        ("one\ntwo", [B.start, B.line_end, B.right, B.line_end], "one\ntwo|"),
    ],
)
def test_editing(text: str, steps: list[Callable[[TextBuffer], None]], expected: str) -> None:
    assert seen(typed(text, *steps)) == expected


def test_undo_goes_back_by_words_and_redo_forward() -> None:
    buffer = TextBuffer()
    for char in "one two":
        buffer.insert(char)
    buffer.undo()
    assert buffer.text == "one"
    buffer.redo()
    assert buffer.text == "one two"
    buffer.undo()
    buffer.undo()
    assert buffer.text == ""


def test_a_large_paste_is_one_character_and_expands() -> None:
    text = "\n".join(f"line {n}" for n in range(124))
    buffer = typed("see ")
    buffer.paste(text)
    assert len(buffer.text) == 5
    (chip,) = buffer.draft.chips.values()
    assert chip.label == "[Pasted text #1 +123 lines]"
    assert buffer.draft.expanded_text == "see " + text
    buffer.backspace()
    assert buffer.text == "see "


@pytest.mark.parametrize("limit", ["\n" * CHIP_LINES, "x" * CHIP_CHARS])
def test_only_a_paste_beyond_a_limit_becomes_a_chip(limit: str) -> None:
    buffer = typed("")
    buffer.paste(limit)
    assert buffer.text == limit
    assert not buffer.draft.chips
    buffer.paste(limit + limit[0])
    assert len(buffer.draft.chips) == 1


def test_control_characters_are_not_typed() -> None:
    assert typed("a\x1b[31mb\r\nc\x00\x9b").text == "a[31mb\nc"


steps = st.sampled_from(
    [
        B.left, B.right, B.word_left, B.word_right, B.line_start, B.line_end, B.backspace, B.delete,
        B.kill_to_line_end, B.kill_to_line_start, B.kill_word_left, B.kill_word_right, B.yank,
        B.yank_older, B.undo, B.redo, B.start, B.end,
        lambda b: b.insert("x 漢"), lambda b: b.insert("\n"), lambda b: b.insert("é🎉"),
        lambda b: b.paste("p\n" * 30),
    ]
)  # fmt: skip


@given(st.lists(steps, max_size=40), st.integers(2, 30))
def test_any_editing_leaves_a_cursor_with_a_cell(
    changes: list[Callable[[TextBuffer], None]], width: int
) -> None:
    buffer = typed("one two\n漢字 three", *changes)
    assert 0 <= buffer.cursor <= len(buffer.text)
    chips = buffer.draft.chips
    rows = edit_rows(buffer.text, width, chips)
    assert rows[0].start == 0
    assert rows[-1].end == len(buffer.text)
    number, column = place_of(rows, buffer.cursor)
    assert 0 <= number < len(rows)
    assert column < max(width, 28)
    if not chips:
        assert cursor_at(rows, number, column) == buffer.cursor
        assert all(line.width == text_width(buffer.text[line.start : line.end]) for line in rows)


def test_words_change_their_case_from_the_cursor_on() -> None:
    buffer = TextBuffer()
    buffer.insert("one two three")
    buffer.start()
    buffer.change_word(str.upper)
    buffer.change_word(str.title)
    assert (buffer.text, buffer.cursor) == ("ONE Two three", 7)
    buffer.undo()
    assert buffer.text == "ONE two three"
