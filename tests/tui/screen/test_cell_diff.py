"""Runs, gaps and shifts."""

from __future__ import annotations

from tests.tui.screen.screens import Canvas, blank_buffer, copy_of, paint
from tui.screen.cell import UNKNOWN
from tui.screen.cell_diff import Run, Shift, compute_diff


def _texts(runs: tuple[Run, ...]) -> list[tuple[int, int, str]]:
    return [(run.x, run.y, "".join(cell.grapheme for cell in run.cells)) for run in runs]


def test_a_small_gap_is_written_again_a_large_one_is_not() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 30, 1)
    paint(canvas, before, [(0, 0, "abcdefghijklmnop", 0, None)])
    after = copy_of(before)
    paint(canvas, after, [(0, 0, "X", 0, None), (3, 0, "Y", 0, None), (12, 0, "Z", 0, None)])
    assert _texts(compute_diff(before, after).runs) == [(0, 0, "XbcY"), (12, 0, "Z")]


def test_a_gap_of_another_style_is_moved_over() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 10, 1)
    paint(canvas, before, [(1, 0, "bc", 1, None)])
    after = copy_of(before)
    paint(canvas, after, [(0, 0, "X", 0, None), (3, 0, "Y", 0, None)])
    assert _texts(compute_diff(before, after).runs) == [(0, 0, "X"), (3, 0, "Y")]


def test_half_a_wide_cluster_becomes_a_space() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 6, 1)
    paint(canvas, before, [(0, 0, "世界", 0, None)])
    after = copy_of(before)
    paint(canvas, after, [(1, 0, "x", 0, None)])
    assert _texts(compute_diff(before, after).runs) == [(0, 0, " x")]


def test_a_wide_cluster_does_not_fit_into_the_last_column() -> None:
    canvas = Canvas()
    buffer = blank_buffer(canvas, 3, 1)
    paint(canvas, buffer, [(2, 0, "世", 0, None)])
    assert [cell.grapheme for cell in buffer.rows[0]] == [" ", " ", " "]


def test_unknown_cells_of_the_new_frame_are_left_alone() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 4, 1)
    after = copy_of(before)
    after.rows[0][1] = UNKNOWN
    assert not compute_diff(before, after)


def test_lines_moved_between_fixed_ones_are_a_shift() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 20, 12)
    paint(canvas, before, [(0, y, f"row {y}", 0, None) for y in range(12)])
    after = copy_of(before)
    after.rows[2:10] = [row.copy() for row in before.rows[3:11]]
    paint(canvas, after, [(0, 10, "new row", 0, None)])
    diff = compute_diff(before, after)
    assert diff.shift == Shift(2, 10, 1)
    assert _texts(diff.runs) == [(0, 10, "new row" + " " * 13)]


def test_blank_lines_never_count_as_moved() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, 20, 12)
    after = copy_of(before)
    paint(canvas, after, [(0, y, f"row {y}", 0, None) for y in range(6)])
    assert compute_diff(before, after).shift is None
