"""The bytes of a diff make the next screen out of the one that the terminal shows."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.tui.screen.emulator import CellEmulator, picture_of
from tests.tui.screen.screens import Canvas, Spans, blank_buffer, copy_of, paint, spans
from tui.screen.cell_diff import compute_diff
from tui.screen.encode import TerminalState, emit_escape_codes, move_cursor
from tui.screen.screen_buffer import ScreenBuffer

WIDTH, HEIGHT = 24, 12
STEPS = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(0, 3), spans(WIDTH, HEIGHT, clustered=True)),
    min_size=1,
    max_size=4,
)


@given(spans(WIDTH, HEIGHT, clustered=True), STEPS, st.booleans(), st.booleans())
@settings(max_examples=examples(120), deadline=None)
def test_emitted_bytes_make_each_screen_out_of_the_one_before(
    first: Spans, steps: list[tuple[int, int, Spans]], fills: bool, homes: bool
) -> None:
    canvas = Canvas()
    terminal = CellEmulator(WIDTH, HEIGHT, fills_background=fills, homes_after_margins=homes)
    state = TerminalState(WIDTH, fills_background=fills)
    shown = ScreenBuffer(WIDTH, HEIGHT)
    wanted = blank_buffer(canvas, WIDTH, HEIGHT)
    paint(canvas, wanted, first)
    for lines, top, texts in [(0, 0, first), *steps]:
        wanted = copy_of(wanted, shifted_by=lines, top=top)
        paint(canvas, wanted, texts)
        terminal.feed(emit_escape_codes(compute_diff(shown, wanted), state, canvas.styles))
        assert terminal.picture() == picture_of(wanted, canvas.styles)
        shown = wanted


@given(spans(WIDTH, HEIGHT, clustered=False), spans(WIDTH, HEIGHT, clustered=False))
@settings(max_examples=examples(60), deadline=None)
def test_pyte_agrees_for_cells_of_one_code_point(first: Spans, second: Spans) -> None:
    canvas = Canvas()
    fresh, changed = pyte.Screen(WIDTH, HEIGHT), pyte.Screen(WIDTH, HEIGHT)
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    paint(canvas, before, first)
    after = copy_of(before)
    paint(canvas, after, second)
    changes = TerminalState(WIDTH, fills_background=True)
    _show(changed, ScreenBuffer(WIDTH, HEIGHT), before, changes, canvas)
    _show(changed, before, after, changes, canvas)
    # What is written without erasing and without any old picture is what must be there.
    _show(fresh, ScreenBuffer(WIDTH, HEIGHT), after, TerminalState(WIDTH), canvas)
    for y in range(HEIGHT):
        assert [changed.buffer[y][x] for x in range(WIDTH)] == [
            fresh.buffer[y][x] for x in range(WIDTH)
        ]


def _show(
    screen: pyte.Screen,
    before: ScreenBuffer,
    after: ScreenBuffer,
    state: TerminalState,
    canvas: Canvas,
) -> None:
    data = "\x1b[?7l" + emit_escape_codes(compute_diff(before, after), state, canvas.styles)
    pyte.Stream(screen).feed(data)


def test_an_equal_screen_costs_nothing() -> None:
    canvas = Canvas()
    screen = blank_buffer(canvas, WIDTH, HEIGHT)
    state = TerminalState(WIDTH)
    assert emit_escape_codes(compute_diff(screen, copy_of(screen)), state, canvas.styles) == ""


def test_a_typed_character_costs_itself_when_the_cursor_is_there() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    after = copy_of(before)
    paint(canvas, after, [(3, 2, "x", 0, None)])
    state = TerminalState(WIDTH, x=3, y=2, style_id=0)
    assert emit_escape_codes(compute_diff(before, after), state, canvas.styles) == "x"


def test_a_link_is_written_once_and_closed() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    after = copy_of(before)
    paint(canvas, after, [(0, 0, "ab", 0, "https://x.org"), (0, 1, "cd", 0, "https://x.org")])
    state = TerminalState(WIDTH, x=0, y=0, style_id=0)
    data = emit_escape_codes(compute_diff(before, after), state, canvas.styles)
    assert data.count("https://x.org") == 1
    assert data.endswith("cd\x1b]8;;\x1b\\")


def test_a_link_with_an_escape_is_not_written() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    after = copy_of(before)
    paint(canvas, after, [(0, 0, "ab", 0, "https://x\x1b]0;owned\x07")])
    state = TerminalState(WIDTH, x=0, y=0, style_id=0)
    assert emit_escape_codes(compute_diff(before, after), state, canvas.styles) == "ab"


def test_scrolled_text_is_moved_not_written() -> None:
    canvas = Canvas()
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    paint(canvas, before, [(0, y, f"line number {y}", 1, None) for y in range(HEIGHT)])
    after = copy_of(before, shifted_by=1)
    state = TerminalState(WIDTH, x=0, y=0, style_id=0)
    data = emit_escape_codes(compute_diff(before, after), state, canvas.styles)
    moved = f"\x1b[1;{HEIGHT}r\x1b[H\x1b[M\x1b[r"
    assert data == f"{moved}\x1b[{HEIGHT}H\x1b[1mline number 0\x1b[m\x1b[K"


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [
        ((5, 5), (5, 5), ""),
        ((5, 5), (6, 5), "\x1b[C"),
        ((5, 5), (3, 5), "\b\b"),
        ((5, 5), (0, 5), "\r"),
        ((5, 5), (0, 6), "\r\n"),
        ((5, 5), (5, 4), "\x1b[A"),
        ((5, 5), (0, 0), "\x1b[H"),
        ((5, 5), (0, 3), "\x1b[4H"),
        ((None, 5), (8, 5), "\x1b[9G"),
        ((None, None), (8, 2), "\x1b[3;9H"),
    ],
)
def test_the_cursor_takes_the_shortest_way(
    start: tuple[int | None, int | None], end: tuple[int, int], code: str
) -> None:
    state = TerminalState(80, x=start[0], y=start[1])
    assert move_cursor(*end, state) == code
    assert (state.x, state.y) == end


def test_a_cluster_that_the_terminal_draws_narrower_leaves_nothing_behind() -> None:
    canvas = Canvas()
    screen = pyte.Screen(WIDTH, HEIGHT)
    before = blank_buffer(canvas, WIDTH, HEIGHT)
    paint(canvas, before, [(0, 0, "────────", 0, None)])
    after = copy_of(before)
    paint(canvas, after, [(0, 0, "ab⏱\ufe0fcd", 0, None)])
    state = TerminalState(WIDTH, fills_background=True)
    _show(screen, ScreenBuffer(WIDTH, HEIGHT), before, state, canvas)
    _show(screen, before, after, state, canvas)
    # This emulator drops the selector, and so draws one cell.
    assert "".join(screen.buffer[0][x].data for x in range(7)) == "ab⏱ cd─"
