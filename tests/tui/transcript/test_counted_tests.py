"""Test results recognized in the output of commands, and the line at the end of a turn."""

from __future__ import annotations

import pytest

from agent.display import CommandDisplay, DiffDisplay
from agent.events import (
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    Terminal,
    ToolDispatch,
    ToolResult,
)
from tests.tui.transcript.samples import DENIED
from tui.text.highlight import Highlighter
from tui.transcript.block_rows import block_rows
from tui.transcript.blocks import EndLine
from tui.transcript.results.counted_tests import count_tests
from tui.transcript.transcript_model import TranscriptModel
from tui.transcript.turn_facts import TurnFacts


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("F....\n1 failed, 4 passed", "1 of 5 tests failed"),
        ("=== 3 passed in 0.12s ===", "3 tests passed"),
        ("== 1 failed, 2 passed, 1 skipped in 3.00s (0:00:03) ==", "1 of 3 tests failed"),
        ("..\n-----\nRan 1 test in 0.001s\n\nOK\n", "1 test passed"),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", "2 of 3 tests failed"),
        ("Tests:       1 failed, 4 passed, 5 total", "1 of 5 tests failed"),
        ("      Tests  1 failed | 4 passed (5)", "1 of 5 tests failed"),
        ("test result: ok. 3 passed; 0 failed;\n" * 2, "6 tests passed"),
        ("  3 passing (5ms)\n  1 failing", "1 of 4 tests failed"),
        ("he said that 3 passed the exam", None),
        ("5 files", None),
        ("", None),
    ],
)  # fmt: skip
def test_test_results_are_recognized(output: str, text: str | None) -> None:
    counts = count_tests(output)
    assert (counts.text if counts is not None else None) == text


def test_the_end_of_a_turn_says_what_it_did() -> None:
    facts = TurnFacts(cost_usd=1.0)
    facts.take(DiffDisplay("a.py", "a\n", "b\nc\n"), "u1")
    facts.take(DiffDisplay("a.py", "b\nc\n", "b\n"), "u2")
    facts.take(CommandDisplay("pytest", "3 passed in 0.1s", 0), "u3")
    assert facts.text(14.0, 1.05) == (
        "1 file · +2 −2 · 3 tests passed · 14 s · $0.05 · /diff · esc esc rewind"
    )


def test_what_the_user_undid_is_not_counted() -> None:
    facts = TurnFacts()
    facts.take(DiffDisplay("a.py", "a\n", "b\nc\n"), "u1")
    facts.take(DiffDisplay("b.py", "a\n", "b\n"), "u2")
    assert facts.take_back(["u1", "u9"])
    assert facts.text(2.0, 0.0) == "1 file · +1 −1 · 2.0 s · /diff · esc esc rewind"
    assert facts.take_back(["u2"])
    assert not facts.take_back(["u2"])
    assert facts.text(2.0, 0.0) == "2.0 s"


def test_a_short_answer_needs_no_line_at_its_end() -> None:
    assert TurnFacts().text(0.4, 0.5) == ""
    assert TurnFacts().text(4.2, 0.0) == "4.2 s"


def test_the_time_of_a_turn_leaves_out_the_waits_for_the_user() -> None:
    document = TranscriptModel()
    document.add_prompt("go", at_s=10.0)
    dispatch = ToolDispatch("t1", "c2", "AskUserQuestion", {}, "AskUserQuestion")
    for at_s, event in (
        (11.0, RequestStart("t1", 1, "m")),
        (12.0, PermissionRequested("t1", "r1", "c1", "Bash", {"command": "make"}, DENIED)),
        (15.0, dispatch),
        (112.0, PermissionResolved("t1", "r1", "c1", DENIED)),
        (115.0, ToolResult("t1", "c2", "AskUserQuestion", "blue", False, 100.0, "ok")),
        (120.0, Terminal("t1", "completed")),
    ):
        document.apply(event, at_s=at_s)
    end = document.blocks[-1]
    assert isinstance(end, EndLine)
    assert end.detail == "7.0 s working time"


@pytest.mark.parametrize(
    ("width", "end"), [(80, "/diff · esc esc rewind"), (50, "/diff"), (40, "$0.05")]
)
def test_the_end_of_a_turn_leaves_out_keys_before_it_breaks(width: int, end: str) -> None:
    detail = "2 files · +2 −2 · 14 s · $0.05 · /diff · esc esc rewind"
    block = EndLine("e", "completed", detail, has_changes=True)
    (line,) = block_rows(block, width, is_detailed=False, highlighter=Highlighter())
    assert line.text.rstrip().endswith(end)
