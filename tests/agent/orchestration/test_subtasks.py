"""What the model may send as subtasks, and the text that it gets back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.abort import AbortController, AbortSignal
from agent.orchestration import findings, subtasks
from agent.orchestration.findings import Findings, read_verdict
from agent.orchestration.journal.journal_records import Caps, StepState
from agent.orchestration.mode_reminders import TURNS_BETWEEN_REFRESHERS
from agent.orchestration.orchestration_mode import EFFORT
from agent.orchestration.run.agent_order import MAX_TURNS, AgentAnswer, AgentOrder
from agent.orchestration.subtasks import SubtaskResult, read_subtasks, result_text
from agent.tools.workflow_port import WorkflowCall, WorkflowStart
from agent.typed_json.read_record import read_record
from tests.tui.recorded_workflows import HeldAgents, recorded_workflows


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
        ("[" + "9" * 5_000 + "]", ("[" + "9" * 5_000 + "]",)),
    ],
)
def test_subtasks_are_read_in_whatever_shape_they_come(
    raw: object, prompts: tuple[str, ...]
) -> None:
    assert read_subtasks(raw).prompts == prompts


def test_the_first_200_run_and_the_rest_is_reported_first() -> None:
    subtasks = read_subtasks([str(number) for number in range(203)])
    assert len(subtasks.prompts) == 200
    text = result_text([SubtaskResult("t", "r", "v")], subtasks.excess)
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


def test_the_constants_are_those_of_the_reference() -> None:
    assert (subtasks.MAX_SUBTASKS, Caps().concurrent, MAX_TURNS) == (200, 10, 15)
    assert (EFFORT, TURNS_BETWEEN_REFRESHERS) == ("xhigh", 10)
    assert Caps().session_agents == 2 * 200
    assert (findings.NAME, findings.RECORDED) == ("report_findings", "Findings recorded.")


FINDING = {"claim": "c", "evidence": "a.py:1", "severity": "low"}


@pytest.mark.parametrize("field", ["summary", "findings", "claim", "evidence", "severity"])
def test_every_field_of_a_report_is_required(field: str) -> None:
    assert read_record(Findings, {"summary": "s", "findings": [FINDING]})[1] == ()
    finding = {name: value for name, value in FINDING.items() if name != field}
    report: dict[str, object] = {"summary": "s", "findings": [finding]}
    report.pop(field, None)
    assert read_record(Findings, report)[1] != ()


async def started(path: Path, raw: object, agents: HeldAgents) -> WorkflowStart:
    agents.go.set()
    workflows = recorded_workflows(path, path, agents)
    try:
        return await workflows.start(
            WorkflowCall(subtasks=raw, verifies=False), "t", AbortController().signal
        )
    finally:
        await workflows.aclose()


@pytest.mark.parametrize("raw", [[], ["", "  "], "", [3, None], "[]"])
async def test_without_a_usable_subtask_the_call_is_an_error(tmp_path: Path, raw: object) -> None:
    start = await started(tmp_path, raw, HeldAgents())
    assert start.is_error
    assert start.text == "Workflow error: no usable subtasks were provided."


class Failing(HeldAgents):
    async def run(self, order: AgentOrder, abort: AbortSignal) -> AgentAnswer:
        return AgentAnswer(state=StepState.FAILED, reason="ModelError: the line broke")


async def test_a_failed_agent_is_named_and_the_call_is_no_error(tmp_path: Path) -> None:
    start = await started(tmp_path, ["a"], Failing())
    assert not start.is_error
    assert start.text == "[agent 1: a]\n(subagent failed: ModelError: the line broke)"
