"""Odd text on odd terminals, through the whole program: nothing lost, nothing shifted."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Pace, Scenario, Text, ToolCall, Turn
from benchmarks.program import Output, Program
from benchmarks.terminal import Emulator
from tests.terminal.conftest import PROGRAM, Screen, ThreadedServer, shows
from tui.screen.width import text_width

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]

READY = shows("What should I do?")
SAMPLES = {
    "cjk": "漢字かな한글",
    "flags": "🇫🇷🇩🇪🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "family": "👩‍👩‍👧‍👦 and 👩🏽‍💻",
    "combining": "e\u0301a\u0308o\u0302\u0323",
    "devanagari": "क्षि नि हिन्दी",
    "thai": "กำ ภาษาไทย",
    "variation": "❤\ufe0f ⌚\ufe0e ☎\ufe0f 1\ufe0f\u20e3",
    "joined": "a\u200db\u200bc\u2060d",
    "controls": "x\x1b[31my\x07\x9b1m\x08\x7fz\r",
}


WHOLE = Pace(delta_tokens=10_000)


def answer(*lines: str) -> Scenario:
    text = "```\n" + "\n".join(lines) + "\n```\n\nThat is all."
    # In one piece: a text that stops half-way in a frame is written in two parts.
    return Scenario(turns=(Turn((Text(text),), times=0, pace=WHOLE),))


def asked(program: Program, until: str = "That is all.") -> Emulator:
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"go\r")
    assert program.wait_until(shows(until)), program.emulator.text()
    program.wait_for_quiet()
    return program.emulator


def written_by(program: Program) -> str:
    data = b"".join(event.data for event in program.events if isinstance(event, Output))
    return data.decode("utf-8", "replace")


def column_of(screen: Emulator, mark: str) -> int:
    """Return the column of the bar after this name; pyte keeps one cell per column."""
    for y in range(screen.lines):
        cells = [screen.buffer[y][x].data for x in range(screen.columns)]
        if f"{mark}:" in "".join(cells):
            return cells.index("|")
    raise AssertionError(f"no row with {mark}:\n{screen.text()}")


@pytest.mark.parametrize("term", ["xterm-256color", "screen", "tmux-256color"])
def test_what_follows_wide_text_stands_in_its_column(
    screen: Screen, serve: Serve, term: str
) -> None:
    lines = [f"{name}:{text}|" for name, text in SAMPLES.items()]
    program = screen(server=serve(answer("plain:|", *lines)), TERM=term)
    shown = asked(program)
    start = column_of(shown, "plain") - len("plain:")
    for name, text in SAMPLES.items():
        visible = re.sub("\x1b\\[31m|\x9b1m|[\x00-\x1f\x7f]", "", text)
        assert column_of(shown, name) - start == len(name) + 1 + text_width(visible), name
    # The emulator shows no spacing marks and no joined families: what was written tells.
    written = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", written_by(program))
    for name in ("cjk", "flags", "family", "devanagari", "thai", "variation"):
        assert SAMPLES[name] in written, name
    assert "controls:xyz|" in shown.text()


def test_a_line_of_a_hundred_thousand_characters(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(answer("begin " + "好x" * 50_000 + " \u20ac")))
    shown = asked(program)
    assert "\u20ac" in shown.text()
    program.type(b"typed")
    assert program.wait_until(shows("typed"), timeout_s=10), program.emulator.text()


def test_output_that_is_no_utf8(screen: Screen, serve: Serve, project: Path) -> None:
    (project / "latin.txt").write_bytes(b"caf\xe9 \xff\xfe end\n" * 3)
    scenario = Scenario(
        turns=(
            Turn((ToolCall("Read", {"file_path": "latin.txt"}),)),
            Turn((Text("Read it."),), times=0),
        )
    )
    program = screen(server=serve(scenario))
    asked(program, "Read it.")
    program.type(b"\x0f")
    assert program.wait_until(shows("caf")), program.emulator.text()
    assert program.exit_status is None


@pytest.mark.parametrize(
    "variables",
    [
        {"NO_COLOR": "1"},
        {"TERM": "xterm", "COLORTERM": ""},
        {"TERM": "xterm-256color", "COLORTERM": ""},
        {"AGENT_TUI_RENDERER": "textual"},
        {"TERM": "linux", "COLORTERM": ""},
    ],
    ids=["no color", "16 colors", "256 colors", "stock output", "linux console"],
)
def test_the_same_words_whatever_the_terminal_can(
    screen: Screen, serve: Serve, variables: dict[str, str]
) -> None:
    program = screen(server=serve(answer("first 漢字 line", "second line")), **variables)
    shown = asked(program)
    assert "first 漢字 line" in shown.text()
    colors = {cell.fg for y in range(shown.lines) for cell in shown.buffer[y].values()}
    if "NO_COLOR" in variables:
        assert colors == {"default"}
    if variables.get("TERM") in ("xterm", "linux"):
        assert not any(re.fullmatch("[0-9a-f]{6}", color) for color in colors), colors


def test_a_window_of_one_cell_and_back(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(answer("first line")), size=(1, 1))
    program.listen(1.0)
    for size in ((1, 1), (2, 1), (1, 40), (200, 1), (3, 3), (100, 32)):
        program.resize(*size)
        program.listen(0.1)
        program.type(b"x")
    assert program.wait_until(shows("xxxxxx")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("That is all.")), program.emulator.text()


def test_a_terminal_that_never_answers_and_never_synchronizes(
    screen: Screen, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.program.replies", lambda _data, _cursor: b"")
    program = screen(server=serve(answer("first line")), TERM="screen")
    assert "first line" in asked(program).text()
    assert "\x1b[?2026h" not in written_by(program)


def test_a_terminal_that_goes_in_the_middle_of_a_frame(screen: Screen, serve: Serve) -> None:
    words = Turn((Text("word " * 2000),), times=0)
    pace = Pace(tokens_per_s=400)
    program = screen(server=serve(Scenario(turns=(words,), pace=pace)), command=PROGRAM)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"go\r")
    assert program.wait_until(shows("word word")), program.emulator.text()
    os.close(program.terminal)
    _, status = os.waitpid(program.pid, 0)
    program.exit_status = os.waitstatus_to_exitcode(status)
    assert program.exit_status == 128 + signal.SIGHUP


def test_a_link_is_one_where_it_equals_its_target(screen: Screen, serve: Serve) -> None:
    text = "See https://example.org/a and [here](https://example.org/b).\n\nThat is all."
    program = screen(server=serve(Scenario(turns=(Turn((Text(text),), times=0),))))
    shown = asked(program)
    written = written_by(program)
    links = re.findall("\x1b]8;[^;]*;([^\x1b\x07]*)(?:\x07|\x1b\\\\)([^\x1b]*)", written)
    opened = [(target, label) for target, label in links if target]
    assert ("https://example.org/a", "https://example.org/a") in opened
    assert all(target == label for target, label in opened)
    assert "here (https://example.org/b)" in shown.text()
