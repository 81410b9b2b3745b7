"""Progress of workflow runs, for headless runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from agent.orchestration.run.workflow_run import WorkflowRun
from agent.orchestration.run_figures import RunFigures, live_figures

_Seen: TypeAlias = tuple[str, str, int, int]


class WorkflowLines:
    """Reports changes of runs: a new phase, the end of an agent, a pause, the end."""

    def __init__(
        self,
        running: Callable[[], Sequence[WorkflowRun]],
        line: Callable[[dict[str, object]], None],
        tell: Callable[[str], None],
    ) -> None:
        """`line` receives the fields of a `workflow_progress` line, `tell` a line for the user."""
        self._running = running
        self._line = line
        self._tell = tell
        self._runs: dict[str, tuple[WorkflowRun, _Seen]] = {}

    def update(self) -> None:
        """Check the runs and report what changed."""
        running = {run.record.id: run for run in self._running()}
        for run_id in [one for one in self._runs if one not in running]:
            self._write_state(self._runs.pop(run_id)[0], "ended", is_news=True)
        for run_id, run in running.items():
            state = "paused" if run.control.is_paused else "running"
            previous = self._runs.get(run_id)
            snapshot = _snapshot(state, live_figures(run))
            self._runs[run_id] = run, snapshot
            if previous is None or previous[1] != snapshot:
                self._write_state(
                    run, state, is_news=previous is None or previous[1][:2] != snapshot[:2]
                )

    def _write_state(self, run: WorkflowRun, state: str, *, is_news: bool) -> None:
        figures = live_figures(run)
        self._line(
            {
                "run_id": run.record.id,
                "name": run.record.name,
                "state": state,
                "phase": figures.phase,
                "agents_done": figures.done_count,
                "agents_total": figures.total,
                "is_total_known": figures.is_total_known,
                "agents_running": figures.running,
                "agents_failed": figures.failed_count,
                "tokens": figures.tokens,
                "cost_usd": figures.usd,
            }
        )
        if is_news:
            reason = f": {run.control.reason}" if state == "paused" else ""
            phase = f"{figures.phase} " if figures.phase else ""
            self._tell(f"workflow {run.record.name}: {state}{reason}, {phase}{figures.progress}")


def _snapshot(state: str, figures: RunFigures) -> _Seen:
    return state, figures.phase, figures.done_count, figures.failed_count
