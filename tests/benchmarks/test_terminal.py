"""The emulator shows what a terminal shows, however the output is cut into pieces."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.terminal import Emulator, replies

RICH_OUTPUT = (
    "\x1b[?1049h\x1b[?2026h\x1b[2;3H\x1b[1;38;2;10;20;30mbold\x1b[0m "
    "\x1b[4:3mcurly\x1b[0m \x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07 "
    "\x1b[>1u\x1b[<u\x1b[=5;1u\x1b[2 q\x1b[?2026$p\x1bP+q544e\x1b\\ünï 漢字\x1b[?2026l"
).encode()


def _screen_after(*pieces: bytes) -> str:
    emulator = Emulator(40, 4)
    for piece in pieces:
        emulator.write(piece)
    return emulator.text()


def test_sequences_that_draw_nothing_leave_no_text() -> None:
    assert _screen_after(RICH_OUTPUT).split("\n") == ["", "  bold curly link ünï 漢字", "", ""]


@given(cuts=st.lists(st.integers(0, len(RICH_OUTPUT)), max_size=6))
def test_output_may_be_cut_anywhere(cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(RICH_OUTPUT)]
    pieces = [RICH_OUTPUT[a:b] for a, b in pairwise(borders)]
    assert _screen_after(*pieces) == _screen_after(RICH_OUTPUT)


def test_leaving_the_alternate_screen_shows_the_normal_one_again() -> None:
    emulator = Emulator(10, 2)
    emulator.write(b"before\x1b[?1049h\x1b[Hinside")
    inside = emulator.text()
    emulator.write(b"\x1b[?1049l")
    assert (inside.split("\n")[0], emulator.text().split("\n")[0]) == ("inside", "before")


def test_a_lower_window_loses_its_last_rows() -> None:
    emulator = Emulator(10, 3)
    emulator.write(b"one\r\ntwo\r\nthree")
    emulator.resize(2, 10)
    assert (emulator.text(), emulator.lines) == ("one\ntwo", 2)


def test_changed_cells_are_counted_since_the_last_call() -> None:
    emulator = Emulator(10, 2)
    emulator.write(b"abc")
    emulator.changed_cells()
    emulator.write(b"\x1b[1;2HX\x1b[2;1Hxy")
    assert (emulator.changed_cells(), emulator.changed_cells()) == (3, 0)


def test_a_changed_color_is_a_changed_cell() -> None:
    emulator = Emulator(10, 2)
    emulator.write(b"abc")
    emulator.changed_cells()
    emulator.write(b"\x1b[1;1H\x1b[31ma")
    assert emulator.changed_cells() == 1


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1b[6n", b"\x1b[3;8R"),
        (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
        (b"text", b""),
    ],
)
def test_queries_are_answered(query: bytes, answer: bytes) -> None:
    assert replies(query, (2, 7)) == answer
