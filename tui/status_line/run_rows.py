"""One row for each workflow run: progress, usage and duration."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from themes.theme import Role
from tui.text.safe_text import shown_line
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, Run
from tui.text.wrap import clip, runs_width
from tui.transcript.block_rows import short_count
from tui.transcript.tool_card import duration

if TYPE_CHECKING:
    # For annotations only: workflows are imported with the first run.
    from agent.orchestration.run.workflow_run import WorkflowRun
    from agent.orchestration.run_figures import RunFigures
    from agent.subagents.running_agent import RunningAgent


def run_rows(
    runs: Sequence[WorkflowRun], agents: Sequence[RunningAgent], width_cells: int
) -> list[Row]:
    """Return one row for each run; `agents` are those of the session."""
    return [Row(_runs(run, agents, width_cells), is_copied=False) for run in runs]


def _runs(run: WorkflowRun, agents: Sequence[RunningAgent], width_cells: int) -> tuple[Run, ...]:
    from agent.orchestration.run_figures import live_figures  # with the first run

    figures = live_figures(run)
    own = [one for one in agents if one.task.workflow == run.record.id and one.is_running]
    tokens = figures.tokens + sum(one.use.tokens for one in own)
    seconds = time.monotonic() - run.started_s
    usage = f"  {figures_text(figures, tokens)} · {duration(seconds)}"
    is_paused = run.control.is_paused
    ink = Ink(Role.WARNING) if is_paused else Ink(Role.ACCENT)
    name: list[Run] = [("   ◆ ", ink), (shown_line(run.record.name), TEXT)]
    state = f"paused: {run.control.reason}" if is_paused else figures.phase
    # The text of a phase or reason is cut off, so that the figures remain visible.
    room = max(0, width_cells - runs_width(name) - len(usage) - len(figures.progress) - 4)
    words = clip([(f"  {shown_line(state)}", MUTED)], room) if state else []
    return tuple(
        clip([*name, *words, (f"  {figures.progress}", TEXT), (usage, MUTED)], width_cells)
    )


def figures_text(figures: RunFigures, tokens: int) -> str:
    """Return text about running agents, failures and usage."""
    parts = [f"{figures.running} running"] if figures.running else []
    if figures.failed_count:
        parts.append(f"{figures.failed_count} failed")
    if figures.refuted_count:
        parts.append(f"{figures.refuted_count} refuted")
    parts.append(f"{short_count(tokens)} tok")
    if figures.usd:
        parts.append(f"${figures.usd:.2f}")
    return " · ".join(parts)
