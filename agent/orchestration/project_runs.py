"""The runs of a project for display, including those of other processes and earlier ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.orchestration.journal.journal_records import (
    OwnerRequest,
    RunRecord,
    StepRecord,
    StepState,
    WorkflowState,
)
from agent.orchestration.run.workflow_run import WorkflowRun
from agent.orchestration.run_figures import RunFigures, live_figures, run_figures
from agent.orchestration.workflows import Workflows

NEWEST: Final = 50
LOST: Final = "lost"
"""The state of a run whose owner ended without recording it."""
_OPEN: Final = frozenset({WorkflowState.RUNNING, WorkflowState.PAUSED, WorkflowState.QUEUED})


class ShownRun(Struct, frozen=True):
    """A run, its progress, and whether this process owns it."""

    record: RunRecord
    figures: RunFigures
    state: str
    """A `WorkflowState`, or `lost`."""
    own: WorkflowRun | None = None

    @property
    def is_open(self) -> bool:
        """Whether the run has not ended: it is queued, running or paused."""
        return self.state in _OPEN

    @property
    def elapsed_s(self) -> float:
        """Duration of the run so far, in seconds."""
        return max(0.0, (self.record.ended_at or time.time()) - self.record.created_at)


class ProjectRuns:
    """Reads the journal; ended runs are read once."""

    def __init__(self, workflows: Workflows) -> None:
        """`workflows` is that of this session."""
        self._workflows = workflows
        self._ended_runs: dict[str, ShownRun] = {}

    async def all(self) -> Sequence[ShownRun]:
        """Return the runs, the newest first. Raises JournalError."""
        records = await self._workflows.journal.ask(lambda store: store.runs.newest(NEWEST))
        return [await self._show_run(record) for record in records]

    async def get(self, run_id: str) -> ShownRun | None:
        """Return the current state of one run; None if there is none. Raises JournalError."""
        record = await self._workflows.journal.ask(lambda store: store.runs.get(run_id))
        return await self._show_run(record) if record is not None else None

    async def steps(self, run: ShownRun) -> Sequence[StepRecord]:
        """Return a run's steps, grouped by phase. Raises JournalError."""
        steps = await self._steps(run.record, run.own)
        phases = list(dict.fromkeys(step.phase for step in steps))
        return sorted(steps, key=lambda step: phases.index(step.phase))

    async def pause_or_go_on(self, run: ShownRun) -> str:
        """Pause a running run, or continue any other; return a message. Raises JournalError."""
        name = run.record.id
        if run.state == WorkflowState.COMPLETED:
            return f"{name} is completed: there is nothing to continue"
        if not run.is_open:
            await self._workflows.resume(name)
            return f"{name} continues; what finished is not repeated"
        pauses = run.state != WorkflowState.PAUSED
        if run.own is not None:
            if pauses:
                run.own.control.pause("a user paused it")
            else:
                run.own.control.resume()
        else:
            await self._request(name, OwnerRequest.PAUSE if pauses else OwnerRequest.RESUME)
        return f"{name} pauses: agents at work continue" if pauses else f"{name} continues"

    async def stop(self, run: ShownRun) -> str:
        """Stop a run; return a message. Raises JournalError."""
        name = run.record.id
        if not run.is_open:
            return f"{name} is {run.state}: there is nothing to stop"
        if run.own is not None:
            run.own.control.stop("a user stopped it")
        else:
            await self._request(name, OwnerRequest.STOP)
        return f"{name} stops; what finished stays recorded"

    async def _request(self, run_id: str, request: OwnerRequest) -> None:
        await self._workflows.journal.ask(lambda store: store.runs.request(run_id, request))

    async def _show_run(self, record: RunRecord) -> ShownRun:
        ended_run = self._ended_runs.get(record.id)
        if ended_run is not None and ended_run.record == record:
            return ended_run
        own = self._find_running(record.id)
        if own is not None:
            state = WorkflowState.PAUSED if own.control.is_paused else record.state
            return ShownRun(record, live_figures(own), state, own)
        is_lost = record.state in _OPEN and record.lease_until < time.time()
        steps = await self._steps(record, None)
        figures = run_figures(record, steps)
        if is_lost:
            figures = replace(figures, running=0)
        run = ShownRun(record, figures, LOST if is_lost else record.state)
        if record.state.is_over:
            self._ended_runs[record.id] = run
        return run

    async def _steps(self, record: RunRecord, own: WorkflowRun | None) -> Sequence[StepRecord]:
        records = await self._workflows.journal.ask(lambda store: store.steps.of_run(record.id))
        if own is None:
            return records
        ended_records = {
            (step.key, step.occurrence): step
            for step in records
            if step.state is not StepState.RUNNING
        }
        # Costs and transcripts of earlier processes are only in the journal.
        return [
            view.record
            if view.record.state is StepState.RUNNING
            else ended_records.get(place, view.record)
            for place, view in own.steps.views.items()
        ]

    def _find_running(self, run_id: str) -> WorkflowRun | None:
        return next((run for run in self._workflows.running if run.record.id == run_id), None)
