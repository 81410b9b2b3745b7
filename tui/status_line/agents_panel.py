"""The agents that work, above the prompt; nothing while there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui.text.styled_rows import BLANK, Row
from tui.transcript.agent_rows import agent_rows
from tui.widgets.rows_widget import RowsWidget

if TYPE_CHECKING:
    from agent.subagents.running_agent import RunningAgent


class AgentsPanel(RowsWidget):
    """One row for each agent."""

    def __init__(self, *, id: str | None = None) -> None:
        """Start without agents."""
        super().__init__(id=id)
        self._agents: Sequence[RunningAgent] = ()

    def show(self, agents: Sequence[RunningAgent]) -> None:
        """Show agents as they are now."""
        if agents or self._agents:
            self._agents = agents
            self.rows_changed()

    def make_rows(self, width_cells: int) -> Sequence[Row]:
        """Return the rows of those that work."""
        rows = agent_rows(self._agents, width_cells)
        return [BLANK, *rows] if rows else ()
