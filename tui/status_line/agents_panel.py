"""The running agents and workflows, above the prompt; empty while there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.status_line.run_rows import run_rows
from tui.text.styled_rows import BLANK, Row
from tui.transcript.agent_rows import agent_rows
from tui.widgets.rows_widget import RowsWidget

if TYPE_CHECKING:
    from agent.orchestration.run.workflow_run import WorkflowRun
    from agent.subagents.running_agent import RunningAgent


class AgentsPanel(RowsWidget):
    """Shows one row for each workflow run, and for each agent outside of one."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start without agents."""
        super().__init__(id=id)
        self._agents: Sequence[RunningAgent] = ()
        self._runs: Sequence[WorkflowRun] = ()

    def show(self, agents: Sequence[RunningAgent], runs: Sequence[WorkflowRun] = ()) -> None:
        """Show the current agents and workflow runs."""
        if agents or self._agents or runs or self._runs:
            self._agents, self._runs = agents, runs
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the rows of running agents and workflow runs."""
        rows = run_rows(self._runs, self._agents, width_cells) if self._runs else []
        rows += agent_rows(self._agents, width_cells)
        return [BLANK, *rows] if rows else ()
