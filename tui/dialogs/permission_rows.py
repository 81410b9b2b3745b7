"""The rows of the permission dialog: the call, its parts and effects, and the reason to ask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from agent.display import CommandDisplay, DiffDisplay, Display, WorkflowDisplay
from permissions.base.text.sanitize import reveal
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    PartVerdict,
    Reason,
    RuleRef,
    source_name,
)
from permissions.explain.explain_decision import (
    NAME_CELLS,
    Shorten,
    explain_steps,
    extra_detail,
    reason_text,
)
from permissions.request import PermissionRequest
from themes.theme import Role
from tui.dialogs.workflow.launch_rows import launch_rows, workflow_title
from tui.screen.width import text_width
from tui.text.highlight import Highlighter
from tui.text.styled_rows import MUTED, TEXT, Ink, Row, Run, indent_rows, row
from tui.text.wrap import hard_wrap, wrap
from tui.transcript.diff.change_rows import change_rows
from tui.transcript.diff.diff_view import diff_counts
from tui.transcript.markdown.markdown_rows import command_rows

INDENT: Final = 3
PAD: Final[tuple[Run, ...]] = ((" " * INDENT, TEXT),)


def title_runs(
    request: PermissionRequest, display: Display | None, pending: Decision
) -> tuple[Run, ...]:
    """Return the question; for a change, with the file and the number of changed lines."""
    title = question_of(request, pending)
    if isinstance(display, WorkflowDisplay):
        title = workflow_title(display)
    runs: tuple[Run, ...] = ((title, Ink(Role.ACCENT, bold=True)),)
    if isinstance(display, WorkflowDisplay) and not display.subtasks:
        runs = (*runs, (f" {reveal(display.name)}", Ink(bold=True)))
    if isinstance(display, DiffDisplay):
        path: Run = (" " + reveal(display.path), Ink(bold=True))
        runs = (*runs, path, ("  ", TEXT), *diff_counts(display))
    if request.agent_id:
        kind = request.agent_type or "sub-agent"
        who = request.agent_id if kind in request.agent_id else f"{request.agent_id} ({kind})"
        runs = (*runs, (f"  from {reveal(who)}", MUTED))
    return runs


def question_of(request: PermissionRequest, pending: Decision) -> str:
    """Return the question."""
    if pending.reason is Reason.UNSANDBOXED:
        return "Run this command outside the sandbox?"
    question = _QUESTIONS.get(request.tool)
    if question is not None:
        return question
    name = reveal(request.tool).replace("mcp__", "").replace("__", ": ")
    return f"Allow {name}?"


def subject_rows(
    request: PermissionRequest, display: Display | None, width_cells: int, highlighter: Highlighter
) -> Sequence[Row]:
    """Return the content of the call: the change, the command, or the input."""
    tool_input = request.tool_input
    match display:
        case DiffDisplay():
            return change_rows(display, width_cells, highlighter, indent=INDENT)
        case WorkflowDisplay():
            return launch_rows(display, width_cells, highlighter, INDENT)
        case CommandDisplay():
            command_text = display.command
            return _command(command_text, tool_input.get("description"), width_cells, highlighter)
        case _:
            pass
    command = tool_input.get("command")
    if request.tool == "Bash" and isinstance(command, str):
        return _command(command, tool_input.get("description"), width_cells, highlighter)
    return _input_rows(request, width_cells)


def _input_rows(request: PermissionRequest, width: int) -> list[Row]:
    names = _FIELD_NAMES if request.tool in _QUESTIONS else {}
    fields = [(reveal(names.get(key, key)), value) for key, value in request.tool_input.items()]
    column = min(max((text_width(name) for name, _ in fields), default=0), width // 3)
    rows: list[Row] = []
    for name, value in fields:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        cells = max(column, text_width(name)) + 2
        lines = hard_wrap([(reveal(text), TEXT)], width - INDENT - cells - 1)
        label = name + " " * (cells - text_width(name))
        rest: tuple[Run, ...] = ((" " * (INDENT + cells), TEXT),)
        rows.extend(indent_rows(lines, (PAD[0], (label, MUTED)), rest))
    return rows or [row(PAD[0], ("no input", MUTED))]


def _command(
    command: str, description: object, width_cells: int, highlighter: Highlighter
) -> list[Row]:
    lines = highlighter.block(reveal(command), "bash")
    rows = indent_rows(command_rows(lines, width_cells - INDENT), PAD, PAD)
    if isinstance(description, str) and description.strip():
        # In quotes and one paragraph: the model's text must not look like the program's.
        quote = f"“{reveal(' '.join(description.split()))}”"
        note = wrap([(quote, MUTED)], width_cells - INDENT - 1)
        rows = [*rows, *indent_rows(note, PAD, PAD)]
    return rows


def needs_part_table(pending: Decision) -> bool:
    """Whether the parts explain more than the command and its effects.

    They do if their verdicts or reasons differ, or if a part is behind a wrapper.
    """
    parts = pending.parts
    if any(part.detail.startswith("through ") for part in parts):
        return True
    reasons = {(part.behavior, part.rule, part.message) for part in parts}
    details = [piece for part in parts for piece in part.detail.split("; ") if piece]
    effects = " · ".join(pending.effects)
    is_said = all(piece.partition(" ")[2] in effects for piece in details)
    return len(parts) > 1 and (len(reasons) > 1 or pending.rule is not None or not is_said)


def part_rows(pending: Decision, width: int, short: Shorten = str) -> list[Row]:
    """Return one row per part of a compound command: verdict, text, and the deciding rule.

    Many consecutive parts that are allowed for the same reason share a row. A reason that applies
    to the whole call is shown by `why_rows`.
    """
    rows: list[Row] = []
    parts = pending.parts
    whole = "" if pending.rule is not None else pending.message
    reasons = [
        (part.behavior, "" if reason == whole else reason.removeprefix(f"{whole}; "))
        for part in parts
        for reason in [_reason(part, short)]
    ]
    for (behavior, reason), part_indexes in groupby(range(len(parts)), reasons.__getitem__):
        runs = _same_reason_runs(behavior, [parts[index] for index in part_indexes], reason)
        head: tuple[Run, ...] = (PAD[0], (f"{behavior.value:<6}", _VERDICTS[behavior]))
        rest: tuple[Run, ...] = ((" " * (INDENT + 6), TEXT),)
        for line in runs:
            rows.extend(indent_rows(wrap(line, width - 6), head, rest))
    return rows


def _reason(part: PartVerdict, short: Shorten) -> str:
    return _rule(part.rule, short) if part.rule else part.message


def _same_reason_runs(
    behavior: Behavior, parts: Sequence[PartVerdict], reason: str
) -> list[list[Run]]:
    if behavior is not Behavior.ALLOW or len(parts) < _MANY:
        return [_part_runs(part, reason) for part in parts]
    between: Run = (f" … {len(parts) - 2} more … ", MUTED)
    ends = [(reveal(parts[0].text), TEXT), between, (reveal(parts[-1].text), TEXT)]
    return [[*ends, (f"  {reveal(reason)}", MUTED)]]


def _part_runs(part: PartVerdict, reason: str) -> list[Run]:
    details = " · ".join(reveal(text) for text in (reason, extra_detail(part, reason)) if text)
    return [(reveal(part.text), TEXT), *([(f"  {details}", MUTED)] if details else [])]


def effect_rows(pending: Decision, width: int) -> list[Row]:
    """Return the effects of the call on files, network and machine."""
    if not pending.effects:
        return []
    text = reveal(" · ".join(pending.effects))
    lines = wrap([(text, Ink(Role.WARNING))], width - 2)
    return indent_rows(lines, (PAD[0], ("▲ ", Ink(Role.WARNING))), ((" " * 5, TEXT),))


def why_rows(pending: Decision, width: int, short: Shorten = str) -> list[Row]:
    """Return the reason to ask, its rule, and warnings about rules."""
    text = reveal(reason_text(pending, short)) or "No rule covers this, so it asks."
    rows = indent_rows(
        wrap([(text, MUTED)], width - 2), (PAD[0], ("◆ ", Ink(Role.WARNING))), ((" " * 5, TEXT),)
    )
    if pending.rule is not None and reveal(pending.rule.text) not in text:
        rule_text = reveal(_rule(pending.rule, short))
        if pending.source is DecisionSource.HOOK:
            rule_text = f"Without the hook this would decide: {rule_text}"
        rule = wrap([(rule_text, MUTED)], width - 2)
        rows.extend(indent_rows(rule, ((" " * 5, TEXT),), ((" " * 5, TEXT),)))
    for warning in pending.warnings:
        text = warning.message
        if warning.rule is not None and warning.rule not in text:
            # Without the rule's name the warning would seem to be about the call.
            text = f"rule {warning.rule}: {text}"
        lines = wrap([(reveal(text), Ink(Role.WARNING))], width - 2)
        rows.extend(indent_rows(lines, (PAD[0], ("! ", Ink(Role.WARNING))), ((" " * 5, TEXT),)))
    return rows


def trace_rows(pending: Decision, width: int, short: Shorten = str) -> list[Row]:
    """Return the verdict of every step of the trace, and which step decided."""
    rows = indent_rows(wrap([(_HOW_TO_READ, Ink(bold=True))], width), PAD, PAD)
    steps = explain_steps(pending, short)
    for part in steps:
        if part.title:
            rows.extend(indent_rows(wrap([(reveal(part.title), Ink(bold=True))], width), PAD, PAD))
        for number, step in enumerate(part.steps, part.first):
            look = _ANSWERS.get(step.answer, MUTED)
            mark: Run = ("» ", Ink(Role.ACCENT, bold=True)) if step.decides else ("  ", TEXT)
            name: Run = (f"{number}. {step.name:<{NAME_CELLS}} ", look if step.decides else MUTED)
            room = max(1, width - NAME_CELLS - 6)
            lines = wrap([(reveal(step.words), look)], room)
            indent = " " * (INDENT + NAME_CELLS + 6)
            rows.extend(indent_rows(lines, (PAD[0], mark, name), ((indent, TEXT),)))
    return rows if steps else [*rows, row(PAD[0], ("nothing was recorded", MUTED))]


def _rule(rule: RuleRef, short: Shorten) -> str:
    line = f":{rule.line}" if rule.line else ""
    place = f"{short(rule.file)}{line}" if rule.file else source_name(rule.source)
    return f"{rule.text} — {place}"


_MANY: Final = 5
"""From this number on, consecutive allowed parts share a row; the trace still lists each."""
_HOW_TO_READ: Final = "How this was decided (» = deciding step)"
_VERDICTS: Final = {
    Behavior.ALLOW: Ink(Role.SUCCESS),
    Behavior.ASK: Ink(Role.WARNING),
    Behavior.DENY: Ink(Role.ERROR),
}
_ANSWERS: Final = {
    "allow": Ink(Role.SUCCESS),
    "ask": Ink(Role.WARNING),
    "deny": Ink(Role.ERROR),
}
_QUESTIONS: Final = {
    "Bash": "Run this command?",
    "Edit": "Make this edit?",
    "MultiEdit": "Make this edit?",
    "NotebookEdit": "Edit this notebook?",
    "Write": "Write this file?",
    "WebFetch": "Fetch this address?",
    "Read": "Read this file?",
    "Glob": "List these files?",
    "Grep": "Search these files?",
}
"""Questions by tool; for other tools the question contains the tool's name."""
_FIELD_NAMES: Final = {
    "file_path": "file",
    "path": "folder",
    "url": "address",
    "prompt": "question",
    "output_mode": "result",
    "head_limit": "lines",
    "limit": "lines",
    "offset": "first line",
}
"""Labels for fields of built-in tools; fields of other tools keep their names."""
