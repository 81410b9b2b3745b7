"""A fan-out: an agent for every subtask, and a second one that tries to refute its result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from agent.orchestration.findings import read_verdict
from agent.orchestration.journal.journal_records import StepState
from agent.orchestration.run.agent_order import AgentAnswer, AgentOrder
from agent.orchestration.run.step_runner import StepRunner
from agent.orchestration.subtasks import (
    SubtaskResult,
    Subtasks,
    result_text,
    verification_prompt,
)

INVESTIGATE, VERIFY = "investigate", "verify"


class FanOutOptions(Struct, frozen=True):
    """The options of a fan-out, stored as its arguments."""

    dropped: int = 0
    """Subtasks beyond the limit."""
    verifies: bool = True


def fan_out_options(args: str) -> FanOutOptions:
    """Parse the arguments of a record; return the defaults if they are invalid."""
    try:
        return msgspec.json.decode(args, type=FanOutOptions)
    except msgspec.DecodeError:
        return FanOutOptions()


async def run_fan_out(steps: StepRunner, subtasks: Subtasks, *, verifies: bool) -> str:
    """Run the subtasks and return the text for the model.

    Each verifier starts as soon as the result is available. Raises `RunStopped`.
    """
    runs = [
        asyncio.ensure_future(_run_subtask(steps, number, task, verifies=verifies))
        for number, task in enumerate(subtasks.prompts, 1)
    ]
    try:
        results = await asyncio.gather(*runs)
    finally:
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)
    return result_text(results, subtasks.excess)


async def verify(steps: StepRunner, task: str, result: str, label: str) -> Mapping[str, object]:
    """Return the verdict on a result: `verdict`, and `text` with the reasons.

    If the verifier fails, the verdict is `unverified`, never refuted. Raises `RunStopped`.
    """
    order = AgentOrder(
        prompt=verification_prompt(task, result), label=label, phase=VERIFY, reports_findings=True
    )
    answer = await steps.call(order)
    if answer.state is not StepState.DONE:
        return {"verdict": "unverified", "text": f"unverified: {answer.reason}"}
    return {"verdict": read_verdict(_summary(answer)), "text": answer_text(answer)}


def answer_text(answer: AgentAnswer) -> str:
    """Return an answer as text for the model; findings become indented JSON."""
    if answer.state is StepState.FAILED:
        return f"(subagent failed: {answer.reason})"
    text = answer.value if isinstance(answer.value, str) else json.dumps(answer.value, indent=2)
    if answer.state is StepState.PARTIAL:
        return f"{text}\n\n({answer.reason})".strip()
    return text


async def _run_subtask(
    steps: StepRunner, number: int, task: str, *, verifies: bool
) -> SubtaskResult:
    order = AgentOrder(
        prompt=task, label=f"agent {number}", phase=INVESTIGATE, reports_findings=True
    )
    answer = await steps.call(order)
    result = answer_text(answer)
    if not verifies:
        return SubtaskResult(task, result)
    if answer.state is StepState.FAILED:
        return SubtaskResult(task, result, "not run: no result")
    verdict = await verify(steps, task, result, f"verify {number}")
    return SubtaskResult(task, result, str(verdict["text"]))


def _summary(answer: AgentAnswer) -> str:
    if isinstance(answer.value, Mapping):
        return str(answer.value.get("summary", ""))
    return str(answer.value)
