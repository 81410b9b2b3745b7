"""A panel with one workflow run: its phases, its agents, and their transcripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from agent.errors import SessionError
from agent.orchestration.journal.journal_error import JournalError
from agent.orchestration.journal.journal_records import StepRecord, StepState
from agent.orchestration.project_runs import ProjectRuns, ShownRun
from agent.orchestration.run_figures import verdict_of
from agent.orchestration.subtasks import verified_subtask
from agent.session.archive.transcript_export import export
from agent.subagents.running_agent import RunningAgent
from agent.subagents.supervisor import AgentSupervisor
from tui.dialogs.dialog import run_alongside
from tui.panels.agent_view import show_agent
from tui.panels.list_panel import Item, ListPanel
from tui.panels.text_panel import TextPanel, text_rows
from tui.ports.command_screen import CommandScreen
from tui.status_line.run_rows import figures_text
from tui.text.safe_text import shown_line
from tui.transcript.agent_rows import activity_of
from tui.transcript.block_rows import short_count
from tui.transcript.tool_card import duration

POLL_S: Final = 0.5
"""How often an open panel reads the journal."""
_LOG_LINES: Final = 2


class _RunView:
    """The shown run: its records in the journal, and its agents in this process."""

    def __init__(self, run: ShownRun, steps: Sequence[StepRecord]) -> None:
        self.run = run
        self.steps = steps

    def question(self) -> str:
        """Return the lines above the agents."""
        figures, own = self.run.figures, self.run.own
        usage = figures_text(figures, figures.tokens)
        lines = [
            f"{self.run.state} · {figures.progress} · {usage} · {duration(self.run.elapsed_s)}"
        ]
        reason = own.control.reason if own is not None else self.run.record.reason
        if reason:
            lines.append(reason)
        if own is not None:
            lines += [f"› {line}" for line in own.log_lines[-_LOG_LINES:]]
        return "\n".join(shown_line(line) for line in lines)


async def show_run(screen: CommandScreen, runs: ProjectRuns, run_id: str) -> None:
    """Show a run until the user closes the panel. Raises JournalError."""
    command_service = screen.session.commands
    assert command_service is not None
    supervisor = command_service.context.agents
    selected_step: tuple[str, int] | None = None
    while True:
        view = await _read(runs, run_id)
        if view is None:
            return
        panel = ListPanel(
            f"{shown_line(view.run.record.name)}  {run_id}",
            agent_items(view.steps, supervisor.all(), run_id),
            question=view.question(),
            selected_index=_index(view.steps, selected_step),
            keys=("x",),
            list_keys={"p": "pause/continue", "v": "result"},
            letters="keys",
            hint="enter transcript · x stop agent · p pause/continue · v result · / search · esc",
            empty="No agent has started yet.",
        )
        async with run_alongside(poll(partial(_renew, panel, runs, view, supervisor))):
            pick = await screen.show_dialog(panel)
        if pick is None:
            return
        if pick.key == "p":
            screen.hint(await runs.pause_or_go_on(view.run))
        elif pick.key == "v":
            await _show_result(screen, view.run)
        else:
            step = view.steps[pick.index]
            selected_step = step.key, step.occurrence
            agent = _agent_of(step, view.steps, supervisor.all(), run_id)
            if pick.key == "enter":
                await _show_agent(screen, step, agent)
            elif agent is not None and supervisor.stop(agent, "user"):
                screen.hint(f"stopped {agent.id}; the step runs again when the run is continued")
            else:
                screen.hint("this agent is not running in this session")


async def _read(runs: ProjectRuns, run_id: str) -> _RunView | None:
    run = await runs.get(run_id)
    return _RunView(run, await runs.steps(run)) if run is not None else None


async def poll(renew: Callable[[], Awaitable[None]]) -> None:
    """Call `renew` every `POLL_S` seconds, until cancelled or until the journal fails."""
    while True:
        await asyncio.sleep(POLL_S)
        try:
            await renew()
        except JournalError:
            return


async def _renew(
    panel: ListPanel, runs: ProjectRuns, view: _RunView, supervisor: AgentSupervisor
) -> None:
    now = await _read(runs, view.run.record.id)
    if now is None:
        return
    step = view.steps[panel.selected_item] if panel.selected_item is not None else None
    selected_step = (step.key, step.occurrence) if step is not None else None
    view.run, view.steps = now.run, now.steps
    panel.question = view.question()
    items = agent_items(view.steps, supervisor.all(), view.run.record.id)
    panel.renew(items, _index(view.steps, selected_step))


def _index(steps: Sequence[StepRecord], selected_step: tuple[str, int] | None) -> int:
    places = [(step.key, step.occurrence) for step in steps]
    return places.index(selected_step) if selected_step in places else 0


def _agent_of(
    step: StepRecord, steps: Sequence[StepRecord], agents: Sequence[RunningAgent], run_id: str
) -> RunningAgent | None:
    """Return the agent of this process that runs a step; None if there is none."""
    if step.state is not StepState.RUNNING:
        return None
    alike = [one for one in steps if one.key == step.key and one.state is StepState.RUNNING]
    own = [
        agent
        for agent in agents
        if agent.is_running and agent.task.workflow == run_id and agent.task.prompt == step.prompt
    ]
    index = alike.index(step)
    return own[index] if index < len(own) else None


def agent_items(
    steps: Sequence[StepRecord], agents: Sequence[RunningAgent], run_id: str
) -> list[Item]:
    """Return the items of the list, with the activity of agents of this process."""
    return [_item(step, _agent_of(step, steps, agents, run_id)) for step in steps]


def _item(step: StepRecord, agent: RunningAgent | None) -> Item:
    subtask = verified_subtask(step.prompt)
    words = " ".join((f"checks: {subtask}" if subtask else step.prompt).split())
    label = f"{step.label}  {words}" if step.label else words
    tokens = agent.use.tokens if agent is not None else step.tokens
    parts = [_state(step, agent)]
    if tokens:
        parts.append(f"{short_count(tokens)} tok")
    if step.cost_usd:
        parts.append(f"${step.cost_usd:.2f}")
    if agent is not None:
        parts.append(duration(agent.elapsed_s))
    is_at_work = step.state is StepState.RUNNING
    return Item(shown_line(label), " · ".join(parts), is_at_work, words, group=step.phase)


def _state(step: StepRecord, agent: RunningAgent | None) -> str:
    match step.state:
        case StepState.RUNNING:
            return activity_of(agent) if agent is not None else "working"
        case StepState.DONE:
            return verdict_of(step) or "done"
        case StepState.PARTIAL:
            return "unfinished"
        case StepState.FAILED:
            return f"failed: {shown_line(_value(step))[:60]}"


async def _show_agent(screen: CommandScreen, step: StepRecord, agent: RunningAgent | None) -> None:
    if agent is not None:
        await show_agent(screen, agent)
        return
    text = await asyncio.to_thread(_transcript, step)
    await screen.show_dialog(TextPanel(step.label or "Agent", text_rows(text)))


async def _show_result(screen: CommandScreen, run: ShownRun) -> None:
    text = run.record.result or "There is no result yet."
    if run.record.kind == "script" and run.record.result:
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    title = f"Result of {shown_line(run.record.name)}"
    await screen.show_dialog(TextPanel(title, text_rows(text)))


def _transcript(step: StepRecord) -> str:
    """Return a step's transcript and result; without a transcript, its prompt and result."""
    try:
        words = export(Path(step.transcript), "markdown") if step.transcript else ""
    except SessionError:
        words = ""
    answer = _value(step)
    if not words:
        return f"{step.prompt}\n\n{answer or 'No answer yet.'}"
    return f"{words.rstrip()}\n\n{answer}".rstrip()


def _value(step: StepRecord) -> str:
    try:
        value = json.loads(step.result) if step.result else ""
    except ValueError:
        return step.result
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
