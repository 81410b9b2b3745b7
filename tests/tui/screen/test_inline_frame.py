"""Inline frames: what is finished is in the scrollback once, what is live is below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.geometry import Offset, Region, Size
from textual.strip import Strip

from tests.examples import examples
from tui.screen.inline_frame import ALTERNATE_SCREEN, NORMAL_SCREEN, InlineFrame
from tui.screen.inline_output import reflows

WIDTH, HEIGHT = 20, 8
SHADED = Style.parse("on #202020")


class Content:
    """Lines, the first of them finished and then taken, the others live."""

    def __init__(self) -> None:
        self.finished: list[str] = []
        self.live: list[str] = []
        self.is_whole = False

    def live_rows(self) -> int:
        return len(self.live)

    def take_finished(self, width_cells: int) -> Sequence[Strip]:
        taken, self.finished = self.finished, []
        return [strip(text, width_cells) for text in taken]

    def take_rest(self, width_cells: int) -> Sequence[Strip]:
        return [*self.take_finished(width_cells), *(strip(t, width_cells) for t in self.live)]

    def show_whole(self, is_wanted: bool) -> None:
        self.is_whole = is_wanted


def strip(text: str, width: int) -> Strip:
    style = SHADED if text.startswith("#") else None
    return Strip([Segment(text[:width].ljust(width), style)])


class Terminal:
    """An emulator with a scrollback, and the frame that draws on it."""

    def __init__(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        self.content = Content()
        self.frame = InlineFrame(self.content, reflows=False, terminal_size=lambda: None)
        self.size = Size(width, height)
        self.screen = pyte.HistoryScreen(width, height, history=100_000)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)
        self.stream.feed("\x1b[?7l$ agent-tui\r\n")
        self.written = ""

    def feed(self, data: str) -> None:
        self.written = data
        self.stream.feed(data)

    def show(self, live: Sequence[str], finished: Sequence[str] = (), caret: int = 0) -> None:
        """Paint as Textual would, all of the window, and write the frame."""
        self.content.live = list(live)
        self.content.finished += finished
        width, height = self.size
        self.frame.resize(self.size)
        rows = [*live, *[""] * height][:height]
        lines: list[Iterable[Strip]] = [[strip(text, width)] for text in rows]
        self.frame.paint(LayoutUpdate(lines, Region(0, 0, width, height)))
        self.feed(self.frame.encode(Offset(2, caret), shows_caret=True))

    def lines(self) -> list[str]:
        """All that the terminal has, scrollback and screen, without blank rows at the end."""
        history = [
            "".join(row[x].data for x in range(self.size.width)) for row in self.screen.history.top
        ]
        rows = [text.rstrip() for text in (*history, *self.screen.display)]
        while rows and not rows[-1]:
            rows.pop()
        return rows


def stripped(lines: Sequence[str]) -> list[str]:
    rows = [line[:WIDTH].rstrip() for line in lines]
    while rows and not rows[-1]:
        rows.pop()
    return rows


LINE = st.text("ab #-", max_size=WIDTH)
STEPS = st.lists(
    st.tuples(st.lists(LINE, max_size=12), st.lists(LINE, min_size=1, max_size=HEIGHT)),
    min_size=1,
    max_size=8,
)


@given(STEPS, st.integers(0, HEIGHT - 1))
@settings(max_examples=examples(150), deadline=None)
def test_scrollback_and_screen_are_what_is_finished_then_what_is_live(
    steps: list[tuple[list[str], list[str]]], caret: int
) -> None:
    terminal = Terminal()
    finished: list[str] = []
    for done, live in steps:
        finished += done
        terminal.show(live, done, caret)
        assert terminal.lines() == stripped(["$ agent-tui", *finished, *live])
    terminal.feed(terminal.frame.finish())
    assert terminal.lines() == stripped(["$ agent-tui", *finished, *steps[-1][1]])


def test_rows_that_stand_already_are_not_written_when_they_are_finished() -> None:
    terminal = Terminal()
    answer = [f"line {number} of it" for number in range(5)]
    terminal.show([*answer, "> prompt"], caret=5)
    terminal.show(["> prompt"], answer)
    assert "line" not in terminal.written
    assert terminal.lines() == ["$ agent-tui", *answer, "> prompt"]


def test_a_typed_character_costs_itself() -> None:
    terminal = Terminal()
    terminal.show(["> a"], caret=0)
    terminal.feed(terminal.frame.encode(Offset(3, 0), shows_caret=True))
    terminal.show(["> ab"])
    assert len(terminal.written) < 8


def test_what_others_wrote_above_is_never_touched() -> None:
    terminal = Terminal()
    terminal.show(["one", "two", "> prompt"], caret=2)
    assert "\x1b[H" not in terminal.written
    assert "\x1b[2J" not in terminal.written
    terminal.show(["> prompt"])
    assert terminal.lines() == ["$ agent-tui", "> prompt"]


def test_the_alternate_screen_leaves_no_copy_of_what_is_live() -> None:
    terminal = Terminal()
    terminal.show(["one", "> prompt"], caret=1)
    data = terminal.frame.use_alternate()
    assert data.endswith(ALTERNATE_SCREEN)
    terminal.feed(data.removesuffix(ALTERNATE_SCREEN))
    assert terminal.lines() == ["$ agent-tui"]
    # What was painted for the other screen is not shown on this one.
    assert terminal.frame.encode(Offset(0, 0), shows_caret=True) == ""
    assert terminal.frame.use_normal() == NORMAL_SCREEN
    terminal.show(["one", "> prompt"], ["done meanwhile"])
    assert terminal.lines() == ["$ agent-tui", "done meanwhile", "one", "> prompt"]


def test_a_terminal_that_is_lent_gets_its_rows_back() -> None:
    terminal = Terminal()
    terminal.show(["one", "two", "> prompt"], caret=2)
    terminal.feed(terminal.frame.leave())
    terminal.feed("the editor said\r\n")
    terminal.show(["one", "two", "> prompt"])
    assert terminal.lines() == ["$ agent-tui", "the editor said", "one", "two", "> prompt"]


@pytest.mark.parametrize("width", [12, 30])
def test_another_width_redraws_what_is_live_in_a_terminal_that_cuts_rows(width: int) -> None:
    terminal = Terminal()
    terminal.show(["-" * WIDTH, "> prompt"], ["finished"], caret=1)
    terminal.size = Size(width, HEIGHT)
    terminal.screen.resize(HEIGHT, width)
    terminal.show(["-" * width, "> prompt"], caret=1)
    assert terminal.lines() == ["$ agent-tui", "finished", "-" * width, "> prompt"]


def test_rows_that_a_narrower_window_wraps_are_counted() -> None:
    terminal = Terminal()
    terminal.frame = InlineFrame(terminal.content, reflows=True, terminal_size=lambda: None)
    terminal.show(["-" * WIDTH, "short", "> prompt"], caret=2)
    terminal.size = Size(8, HEIGHT)
    terminal.show(["-" * 8, "> prompt"])
    # The rule takes three rows of eight, the short line one.
    assert terminal.written.startswith("\r\x1b[4A\x1b[m\x1b[C\x1b[J\r\x1b[2K")


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, False),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x", "XTERM_VERSION": "XTerm(390)"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "screen-256color", "STY": "1.pts"}, False),
    ],
)
def test_terminals_that_cut_rows_are_known(env: dict[str, str], expected: bool) -> None:
    assert reflows(env) is expected


def test_nothing_is_written_while_the_window_has_another_size() -> None:
    terminal = Terminal()
    size: tuple[int, int] = (WIDTH, HEIGHT)
    terminal.frame = InlineFrame(terminal.content, reflows=True, terminal_size=lambda: size)
    terminal.show(["> prompt"])
    size = (WIDTH - 1, HEIGHT)
    terminal.show(["> prompt and more"])
    assert terminal.written == ""
