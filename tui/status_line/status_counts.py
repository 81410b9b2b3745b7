"""Figures for status line commands only: times and changed lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.display import DiffDisplay
    from agent.events import AgentEvent, Usage
    from agent.status_line.command import StatusFacts


class StatusCounts:
    """Receives every event; the sums are computed on request."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Start to count now."""
        self._clock = clock
        self.title = ""
        self.start_over()

    def start_over(self) -> None:
        """Reset the figures for another conversation."""
        self._begun_at_s = self._clock()
        self._asked_at_s: float | None = None
        self._waited_s = 0.0
        self._changes: list[DiffDisplay] = []
        """Changes whose lines are not counted yet."""
        self._lines_added = self._lines_removed = 0
        self._prompt_id = ""
        self._last: Usage | None = None

    def observe(self, event: AgentEvent) -> None:
        """Update the figures with the next event."""
        match event.type:
            case "request_start" if event.agent_id is None:
                self._prompt_id = event.turn_id
                self._asked_at_s = self._clock()
            case "complete" | "error" | "terminal" if event.agent_id is None:
                if event.type == "complete":
                    self._last = event.usage
                if self._asked_at_s is not None:
                    self._waited_s += self._clock() - self._asked_at_s
                    self._asked_at_s = None
            case "tool_result" if event.outcome == "ok":
                display = event.display
                if display is not None and display.type == "diff":
                    self._changes.append(display)
            case _:
                pass

    def facts(self, *, columns: int, rows: int = 24, vim_mode: str = "") -> StatusFacts:
        """Return the current facts."""
        # Imported only if a command is set: both imports take longer than a frame.
        from agent.status_line.command import StatusFacts
        from tui.transcript.diff.diff_view import diff_texts

        for change in self._changes:
            # Each change is counted only once: long conversations have many.
            diff = diff_texts(change.old, change.new)
            self._lines_added += diff.added_count
            self._lines_removed += diff.removed_count
        self._changes.clear()
        return StatusFacts(
            columns=columns,
            rows=rows,
            title=self.title,
            prompt_id=self._prompt_id,
            elapsed_s=self._clock() - self._begun_at_s,
            waited_s=self._waited_s,
            lines_added=self._lines_added,
            lines_removed=self._lines_removed,
            vim_mode=vim_mode,
            last=self._last,
        )
