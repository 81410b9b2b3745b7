"""Progress and usage of a run, computed from its steps, for display."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct

from agent.orchestration.findings import Verdict, read_verdict
from agent.orchestration.journal.journal_records import RunRecord, StepRecord, StepState
from agent.orchestration.run.fan_out import VERIFY
from agent.orchestration.run.workflow_run import WorkflowRun

_ENDED_BADLY: Final = frozenset({StepState.FAILED, StepState.PARTIAL})


class RunFigures(Struct, frozen=True, kw_only=True):
    """A run at a glance."""

    phase: str = ""
    done_count: int = 0
    """Agents with a complete answer."""
    total: int = 0
    is_total_known: bool = True
    """False if a script may still start more."""
    running: int = 0
    failed_count: int = 0
    refuted_count: int = 0
    tokens: int = 0
    usd: float | None = 0.0
    """None if an agent has no price."""

    @property
    def progress(self) -> str:
        """`31/200`, or `31/≥34` while more may come."""
        return f"{self.done_count}/{'' if self.is_total_known else '≥'}{self.total}"


def run_figures(run: RunRecord, steps: Sequence[StepRecord], phase: str = "") -> RunFigures:
    """Return the figures of a run; `phase` is the one that its script announced last, if known."""
    failed_count = sum(step.state in _ENDED_BADLY for step in steps)
    total, is_known = len(steps), run.state.is_over
    if run.kind == "subtasks":
        unverified_count = sum(
            step.state is StepState.FAILED and step.phase != VERIFY for step in steps
        )
        prompts, verifies = _plan(run.script, run.args)
        total, is_known = prompts + verifies * (prompts - unverified_count), True
    costs = [step.cost_usd for step in steps if step.tokens]
    return RunFigures(
        phase=phase or _phase(steps),
        done_count=sum(step.state is StepState.DONE for step in steps),
        total=total,
        is_total_known=is_known,
        running=sum(step.state is StepState.RUNNING for step in steps),
        failed_count=failed_count,
        refuted_count=sum(verdict_of(step) == "refuted" for step in steps),
        tokens=sum(step.tokens for step in steps),
        usd=None if None in costs else sum(usd for usd in costs if usd is not None),
    )


def live_figures(run: WorkflowRun) -> RunFigures:
    """Return the figures of a run of this process."""
    steps = [view.record for view in run.steps.views.values()]
    return run_figures(run.record, steps, run.phase)


def verdict_of(step: StepRecord) -> Verdict | None:
    """Return a verifier's verdict; None for other steps, or if it is not done."""
    if step.state is not StepState.DONE or step.phase != VERIFY:
        return None
    return _verdict(step.result)


@lru_cache(maxsize=1_000)
def _verdict(result: str) -> Verdict | None:
    try:
        value = json.loads(result)
    except ValueError:
        return None
    summary = value.get("summary", "") if isinstance(value, dict) else value
    return read_verdict(str(summary))


def _phase(steps: Sequence[StepRecord]) -> str:
    at_work = [step for step in steps if step.state is StepState.RUNNING] or steps
    return at_work[-1].phase if at_work else ""


@lru_cache(maxsize=100)
def _plan(script: str, args: str) -> tuple[int, bool]:
    """Return how many subtasks there are, and whether each is verified."""
    options = json.loads(args)
    verifies = not isinstance(options, dict) or options.get("verifies") is not False
    return len(json.loads(script or "[]")), verifies
