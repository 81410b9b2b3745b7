"""What the model may send as subtasks, and the text that it gets back."""

from __future__ import annotations

import json

import pytest

from agent.orchestration.findings import read_verdict
from agent.orchestration.subtasks import SubtaskResult, read_subtasks, result_text


@pytest.mark.parametrize(
    ("raw", "prompts"),
    [
        ([" a ", "b", "", 3, None], ("a", "b")),
        (json.dumps(["a", "b"]), ("a", "b")),
        ("a\n\n b \n", ("a", "b")),
        ("only one", ("only one",)),
        ("", ()),
        ("7", ()),
        ({"a": 1}, ()),
        (None, ()),
        ("[" * 100_000, ("[" * 100_000,)),
    ],
)
def test_subtasks_are_read_in_whatever_shape_they_come(
    raw: object, prompts: tuple[str, ...]
) -> None:
    assert read_subtasks(raw).prompts == prompts


def test_the_first_200_run_and_the_rest_is_said_first() -> None:
    subtasks = read_subtasks([str(number) for number in range(203)])
    assert len(subtasks.prompts) == 200
    text = result_text([SubtaskResult("t", "r", "v")], subtasks.dropped)
    assert text.startswith("(note: 3 subtasks beyond MAX_TOTAL_SUBTASKS=200 were not run;")


def test_results_and_verdicts_stand_in_the_order_of_the_subtasks() -> None:
    results = [SubtaskResult("one", "1", "confirmed: yes"), SubtaskResult("two", "2")]
    assert result_text(results, 0) == (
        "[agent 1: one]\n1\n\n[verify 1]\nconfirmed: yes\n\n[agent 2: two]\n2"
    )


@pytest.mark.parametrize(
    ("summary", "verdict"),
    [
        ("confirmed: a.py:3", "confirmed"),
        (" Confirmed: x", "confirmed"),
        ("refuted: no", "refuted"),
        ("I could not find out", "refuted"),
        ("", "refuted"),
    ],
)
def test_what_is_not_clearly_confirmed_is_refuted(summary: str, verdict: str) -> None:
    assert read_verdict(summary) == verdict
