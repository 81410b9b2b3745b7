"""`/workflows`: the project's runs; shows, pauses, continues, stops or saves one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from agent.errors import AgentError
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.project_runs import ProjectRuns, ShownRun
from agent.orchestration.saved_workflow import save_workflow
from permissions.base.text.count_text import count_text
from tui.dialogs.dialog import run_alongside
from tui.panels.line_entry import LineEntry
from tui.panels.list_panel import Item, ListPanel, paragraph_rows
from tui.panels.workflow_run import poll, show_run
from tui.ports.command_screen import CommandScreen
from tui.status_line.run_rows import figures_text
from tui.text.safe_text import shown_line
from tui.text.styled_rows import Row
from tui.text.time_ago import time_ago
from tui.transcript.tool_card import duration

EMPTY: Final = (
    "No workflow has run in this project. Ask for one in a prompt, or let the model decide with "
    "/orchestrate on."
)


async def open_panel(screen: CommandScreen, argument: str) -> None:
    """Show the runs; Enter opens one. `argument` is the id of a run to open at once."""
    command_service = screen.session.commands
    if command_service is None:
        return
    runs = ProjectRuns(command_service.context.workflows)
    selected_id = argument.strip()
    while True:
        try:
            run_list = list(await runs.all())
        except JournalError as error:
            screen.notice(f"The journal of workflows cannot be read: {error}.", "warning")
            return
        panel = _panel(run_list, selected_id)
        pick = await _show_live(screen, panel, runs, run_list)
        if pick is None:
            return
        selected_id = pick[0].record.id
        await _apply_key(screen, runs, *pick)


def _panel(run_list: Sequence[ShownRun], selected_id: str) -> ListPanel:
    return ListPanel(
        "Workflows",
        [_item(run) for run in run_list],
        selected_index=_index(run_list, selected_id),
        keys=("p", "x", "s"),
        letters="keys",
        preview=lambda index, width: _preview(run_list[index], width),
        hint="enter open · p pause/continue · x stop · s save · / search · esc close",
        empty=EMPTY,
    )


async def _show_live(
    screen: CommandScreen, panel: ListPanel, runs: ProjectRuns, run_list: list[ShownRun]
) -> tuple[ShownRun, str] | None:
    """Show the panel, which is refreshed while it is open; return the picked run and the key."""

    async def renew() -> None:
        now = await runs.all()
        # Read only now: the user may have moved during the read.
        index = panel.selected_item
        selected_id = run_list[index].record.id if index is not None else ""
        run_list[:] = now
        panel.renew([_item(run) for run in run_list], _index(run_list, selected_id))

    async with run_alongside(poll(renew)):
        pick = await screen.show_dialog(panel)
    return (run_list[pick.index], pick.key) if pick is not None else None


async def _apply_key(screen: CommandScreen, runs: ProjectRuns, run: ShownRun, key: str) -> None:
    """Apply a key to a run."""
    try:
        if key == "enter":
            await show_run(screen, runs, run.record.id)
        elif key == "s":
            await save(screen, run)
        elif key == "p":
            screen.hint(await runs.pause_or_go_on(run))
        else:
            screen.hint(await runs.stop(run))
    except (AgentError, JournalError) as error:
        screen.notice(str(error), "warning")


async def save(screen: CommandScreen, run: ShownRun) -> None:
    """Ask for a name and save a run as a workflow. Raises AgentError."""
    command_service = screen.session.commands
    assert command_service is not None
    name = await screen.show_dialog(
        LineEntry(
            "Save as a workflow",
            "Its name: it becomes .agent/workflows/NAME.js and a command /NAME.",
            "enter save · esc back",
        )
    )
    if name is None:
        return
    project = command_service.context.settings().project_root
    path = await asyncio.to_thread(save_workflow, run.record, name, project)
    screen.notice(f"Saved as {screen.workspace.display_path(path)}.")


def _index(run_list: Sequence[ShownRun], run_id: str) -> int:
    return next((index for index, run in enumerate(run_list) if run.record.id == run_id), 0)


def _item(run: ShownRun) -> Item:
    figures = run.figures
    began = time_ago(datetime.fromtimestamp(run.record.created_at, UTC))
    when = duration(run.elapsed_s) if run.is_open else began
    state = run.state if run.state != "running" or not figures.phase else figures.phase
    detail = f"{shown_line(state)}  {figures.progress}  {figures_text(figures, figures.tokens)}"
    return Item(
        shown_line(run.record.name),
        f"{detail} · {when}",
        run.state == "running",
        keywords=f"{run.record.id} {run.state}",
    )


def _preview(run: ShownRun, width: int) -> Sequence[Row]:
    """Return details of a run that do not fit in the list: id, reason, and where it runs."""
    record = run.record
    parts = [
        record.id,
        f"{count_text(record.agents, 'agent')} started, at most {record.max_agents:,}",
    ]
    if run.is_open and run.own is None:
        parts.append("in another process")
    reason = run.own.control.reason if run.own is not None else record.reason
    if reason:
        parts.append(reason)
    return paragraph_rows(" · ".join(parts), width)
