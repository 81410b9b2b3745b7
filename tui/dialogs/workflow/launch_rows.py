"""Rows of the permission dialog about a workflow: its purpose, its limits, its script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agent.display import DiffDisplay, WorkflowDisplay
from permissions.mode import mode_name, parse_mode
from themes.theme import Role
from tui.text.highlight import Highlighter
from tui.text.sequence_view import SequenceView
from tui.text.styled_rows import BLANK, MUTED, TEXT, Ink, Row, Run, indent_rows, row
from tui.text.wrap import clip, hard_wrap, wrap
from tui.transcript.diff.change_rows import change_rows
from tui.transcript.diff.diff_view import diff_counts

_NAME_CELLS: Final = 8
_SHOWN_TASKS: Final = 20
_MANY: Final = 25
"""From this number of agents on, the number is shown as a warning."""


def workflow_title(display: WorkflowDisplay) -> str:
    """Return the question."""
    if display.resumes:
        return "Resume this workflow?"
    return "Run these subtasks?" if display.subtasks else "Run this workflow?"


def launch_rows(
    display: WorkflowDisplay, width_cells: int, highlighter: Highlighter, indent: int
) -> Sequence[Row]:
    """Return the rows, with the most important facts first and the script last."""
    room = max(1, width_cells - indent - 1)
    facts: list[Row] = []
    if display.description:
        lines = wrap([(f"“{display.description}”", MUTED)], room)
        facts += indent_rows(lines, ((" " * indent, TEXT),), ((" " * indent, TEXT),))
    for name, words, ink in _facts(display):
        head: tuple[Run, ...] = ((f"{' ' * indent}{name:<{_NAME_CELLS}}", MUTED),)
        rest: tuple[Run, ...] = ((" " * (indent + _NAME_CELLS), TEXT),)
        facts += indent_rows(wrap([(words, ink)], max(1, room - _NAME_CELLS)), head, rest)
    if display.subtasks:
        return [*facts, BLANK, *_task_rows(display.subtasks, width_cells, indent)]
    return SequenceView((facts, _script_rows(display, width_cells, highlighter, indent)))


def _facts(display: WorkflowDisplay) -> list[tuple[str, str, Ink]]:
    facts: list[tuple[str, str, Ink]] = []
    if display.resumes:
        facts.append(("Resumes", f"{display.resumes}; results of finished agents are reused", TEXT))
    if display.phases:
        facts.append(("Phases", " → ".join(display.phases), TEXT))
    is_many = display.most_agents > _MANY and bool(display.subtasks)
    facts.append(("Agents", _agents(display), Ink(Role.WARNING) if is_many else TEXT))
    facts.append(("Cost", _cost(display), TEXT))
    mode = parse_mode(display.mode)
    name = mode_name(mode) if mode is not None else display.mode
    facts.append(("Mode", f"{name}; no agent may do more", TEXT))
    return facts


def _agents(display: WorkflowDisplay) -> str:
    count = len(display.subtasks)
    most = f"at most {display.most_agents:,}"
    if count and display.most_agents > count:
        most += f" ({count}, and as many to verify)"
    return f"{most}, {display.at_once} at once · {display.agents_left:,} left in this session"


def _cost(display: WorkflowDisplay) -> str:
    limit = "" if display.budget_usd is None else f" · pauses at ${display.budget_usd:.2f}"
    if not display.earlier_runs:
        return f"unknown, no workflow of this name has run yet{limit}"
    runs = f"{display.earlier_runs} run{'s' if display.earlier_runs > 1 else ''}"
    each = " each" if display.earlier_runs > 1 else ""
    agents = f"{display.earlier_agents / display.earlier_runs:.0f} agents"
    if display.earlier_usd is None:
        return f"{runs} so far: {agents}{each}, cost unknown{limit}"
    return (
        f"{runs} so far: ${display.earlier_usd / display.earlier_runs:.2f}, {agents}{each}{limit}"
    )


def _task_rows(tasks: Sequence[str], width_cells: int, indent: int) -> list[Row]:
    rows: list[Row] = []
    pad = " " * indent
    for number, task in enumerate(tasks[:_SHOWN_TASKS], 1):
        head = f"{pad}{number:>2}. "
        words = " ".join(task.split())
        rows.append(Row(tuple(clip([(head, MUTED), (words, TEXT)], width_cells - 1))))
    if len(tasks) > _SHOWN_TASKS:
        rows.append(row((f"{pad}and {len(tasks) - _SHOWN_TASKS} more", MUTED)))
    return rows


def _script_rows(
    display: WorkflowDisplay, width_cells: int, highlighter: Highlighter, indent: int
) -> Sequence[Row]:
    pad: Run = (" " * indent, TEXT)
    head: Run = (f"{'Script':<{_NAME_CELLS}}", MUTED)
    where = display.path or "written for this run"
    last = display.last_script
    if last is not None and last != display.script:
        change = DiffDisplay("script.js", last, display.script)
        words: Run = (f"{where} · changed since it last ran ", Ink(Role.WARNING))
        title = Row(tuple(clip([pad, head, words, *diff_counts(change)], width_cells - 1)))
        return SequenceView(([title], change_rows(change, width_cells, highlighter, indent=indent)))
    state = "as it last ran" if last is not None else "never run before"
    title = Row(tuple(clip([pad, head, (f"{where} · {state}", TEXT)], width_cells - 1)))
    lines = highlighter.block(display.script, "javascript")
    script_rows = [
        part for line in lines for part in hard_wrap(line, max(1, width_cells - indent - 1))
    ]
    return [title, *indent_rows(script_rows, (pad,), (pad,))]
