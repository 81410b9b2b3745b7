"""Wide text on terminals that draw it by clusters, and on those that draw code point by code point.

Nothing of it may be lost, in a list, in code and in a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
import wcwidth
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Complete, TextDelta, Usage
from tests.tui.app.test_app_keys import send, until
from tests.tui.recorded import RecordedConversation, Step, make_app, until_interrupted
from tests.tui.screen.emulator import CellEmulator, Shown
from tui.input.driver import _Reader
from tui.input.terminal_reply import TerminalReply
from tui.screen import width
from tui.screen.cell_diff import compute_diff
from tui.screen.encode import TerminalState, emit_escape_codes
from tui.screen.screen_buffer import ScreenBuffer
from tui.terminal.width_probe import PROBE, DrawnWidth, width_from_reply
from tui.text.graphemes import settled_length
from tui.transcript.block_list import BlockList
from tui.transcript.blocks import AssistantText
from tui.transcript.streaming_answer import StreamingAnswer

SAMPLES = {
    "vs": "\u2764\ufe0f",
    "flag": "\U0001f1e9\U0001f1ea\U0001f1ef\U0001f1f5",
    "skin": "\U0001f44d\U0001f3fd",
    "zwj": "\U0001f469\u200d\U0001f469\u200d\U0001f467",
    "cjk": "\u6f22\u5b57",
}
LINES = [f"{name}:{text}|" for name, text in SAMPLES.items()]
ANSWER = "\n".join(
    [
        *(f"- {line}" for line in LINES),
        "\n```text",
        *LINES,
        "```\n",
        "| name | text |\n|---|---|",
        *(f"| t{name} | {text} |" for name, text in SAMPLES.items()),
    ]
)


@pytest.fixture(autouse=True)
def one_terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with a terminal that joins, and so does what comes after it."""
    monkeypatch.setattr(width._Terminal, "split_kinds", frozenset())
    width._cached_clusters.cache_clear()
    yield
    width._cached_clusters.cache_clear()
    width.is_one_cluster.cache_clear()


class PlainEmulator(CellEmulator):
    """Draws every code point in its own cells; those without a width belong to the one before."""

    joins = False
    """Whether what follows a joiner belongs to the one before, too."""

    def _write(self, text: str) -> None:
        for before, character in pairwise(f" {text}"):
            cells = max(0, wcwidth.wcwidth(character))
            row = self.rows[self._y]
            if cells == 0 or (self.joins and before == "\u200d"):
                at = self._x - 1 - (row[self._x - 1].grapheme == "")
                row[at] = Shown(row[at].grapheme + character, self._pen, self._link)
                continue
            assert self._x + cells <= self.width
            self._break_wide(self._y, self._x)
            self._break_wide(self._y, self._x + cells)
            row[self._x] = Shown(character, self._pen, self._link)
            if cells == 2:
                row[self._x + 1] = Shown("", self._pen, self._link)
            self._x = min(self._x + cells, self.width - 1)


class JoiningEmulator(PlainEmulator):
    """Draws families as one and skin tones apart, as tmux 3.3."""

    joins = True


@pytest.mark.parametrize(
    ("make", "replies"),
    [
        (CellEmulator, ()),
        (PlainEmulator, ("\x1b[2;7R", "\x1b[2;15R", "\x1b[3;5R")),
        (JoiningEmulator, ("\x1b[2;3R", "\x1b[2;15R", "\x1b[3;5R")),
    ],
    ids=["clusters", "code points", "tones apart"],
)
async def test_no_wide_text_is_lost_and_columns_stand(
    make: type[CellEmulator], replies: Sequence[str]
) -> None:
    app = make_app(
        RecordedConversation(
            [[TextDelta("t", "m", 0, ANSWER), Complete("t", "m", "end_turn", Usage())]]
        )
    )
    async with app.run_test(size=(60, 40)) as pilot:
        for reply in replies:
            app.post_message(TerminalReply(reply))
        await pilot.pause()
        await send(pilot, "go")
        blocks = app.parts.document.blocks
        await until(pilot, lambda: ANSWER in [getattr(block, "text", "") for block in blocks])
        wanted, styles = app._cells.back, app._cells.styles
        terminal = make(60, 40, fills_background=True, homes_after_margins=True)
        state = TerminalState(60, fills_background=True)
        blank = ScreenBuffer(60, 40)
        terminal.feed(emit_escape_codes(compute_diff(blank, wanted), state, styles))
    rows = ["".join(cell.grapheme for cell in row) for row in terminal.rows]
    for name, text in SAMPLES.items():
        assert sum(f"{name}:{text}|" in row for row in rows) == 2, (name, rows)
        assert any(f"t{name}" in row and text in row for row in rows), (name, rows)
    assert not any("\N{REPLACEMENT CHARACTER}" in row for row in rows)


def test_the_terminal_is_asked_once_and_answers_are_no_keys() -> None:
    assert PROBE.count("\x1b[6n") == 3
    messages = _Reader(debug=False).feed(b"\x1b[2;3R\x1b[3;5R")
    assert [m.text for m in messages if isinstance(m, TerminalReply)] == ["\x1b[2;3R", "\x1b[3;5R"]
    assert width_from_reply("\x1b[2;3R") == DrawnWidth("family", is_joined=True)
    assert width_from_reply("\x1b[2;13R") == DrawnWidth("tone", is_joined=True)
    assert width_from_reply("\x1b[2;15R") == DrawnWidth("tone", is_joined=False)
    assert width_from_reply("\x1b[3;5R") == DrawnWidth("flag", is_joined=False)
    assert width_from_reply("\x1b[?997;1n") is None


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("abc", 3),
        ("caf\u00e9", 4),
        ("\u6f22\u5b57", 2),
        ("a\U0001f469\u200d", 1),
        ("a\U0001f1ef", 1),
        ("\U0001f1e9\U0001f1ea\U0001f1ef", 2),
        ("a\U0001f44d b", 4),
        ("", 0),
    ],
)
def test_only_a_last_cluster_that_may_grow_waits(text: str, count: int) -> None:
    assert settled_length(text) == count


@given(st.lists(st.sampled_from([*SAMPLES.values(), "ab ", "\n"]), max_size=8), st.data())
def test_a_growing_answer_never_ends_in_half_a_cluster(
    parts: list[str], data: st.DataObject
) -> None:
    whole = "".join(parts)
    cuts = data.draw(st.lists(st.integers(0, len(whole)), max_size=6))
    edges = sorted({0, len(whole), *cuts})
    blocks = BlockList()
    answer = StreamingAnswer(blocks, "m", "k")
    clusters = list(wcwidth.iter_graphemes(whole))
    ends = {sum(map(len, clusters[:count])) for count in range(len(clusters) + 1)}
    for start, end in pairwise(edges):
        answer.grow(whole[start:end])
        assert len(answer.whole) in ends
    answer.finish()
    assert answer.whole == whole


async def test_an_interrupted_answer_keeps_its_last_character() -> None:
    steps: list[Step] = [TextDelta("t", "m", 0, "hi \U0001f44d"), until_interrupted]
    app = make_app(RecordedConversation([steps]))
    async with app.run_test(size=(60, 20)) as pilot:
        await send(pilot, "go")
        blocks = app.parts.document.blocks
        await until(pilot, lambda: any(isinstance(block, AssistantText) for block in blocks))
        await pilot.press("escape")
        await until(pilot, lambda: not app.parts.document.activity.is_working)
        assert [b.text for b in blocks if isinstance(b, AssistantText)] == ["hi \U0001f44d"]
