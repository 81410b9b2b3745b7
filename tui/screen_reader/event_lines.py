"""Converts agent events to labeled lines, in reading order. Pure.

Each line begins with its kind (`assistant:`, `tool:`, `result:` …), followed by its text; words
replace signs that a screen reader would spell out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from agent.display import CommandDisplay, DiffDisplay, Display, TextDisplay, TodoDisplay
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    HookFinished,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RetryScheduled,
    Terminal,
    TextDelta,
    Tombstone,
    ToolDispatch,
    ToolResult,
)
from agent.tools.decline_text import DECLINED, comment_in
from permissions.base.text.count_text import count_text
from permissions.base.text.late_pattern import compile_late
from permissions.base.text.sanitize import Sanitizer, sanitize
from permissions.explain.explain_decision import decider_name, reason_text
from tui.text.safe_text import shown_display, shown_line
from tui.transcript.diff.diff_view import diff_texts
from tui.transcript.results.result_size import is_sized, result_size

MAX_RESULT_LINES: Final = 12
_EMPHASIS: Final = compile_late(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
"""Markdown bold, whose asterisks a screen reader would read out one by one."""


class EventLines:
    """Converts events to lines; buffers only the unfinished last line of the answer."""

    def __init__(self) -> None:
        """Start without events."""
        self._cleaner = Sanitizer()
        self._rest = ""
        self._is_answering = False
        self._is_code = False
        self._open_requests: set[str] = set()
        self._asked_calls: set[str] = set()
        self._inputs: dict[str, Mapping[str, Any]] = {}
        """Inputs of calls whose change was written when the user was asked."""

    def lines(self, event: AgentEvent) -> list[str]:
        """Return the lines of an event; most have none."""
        return list(self._lines(event))

    def _lines(self, event: AgentEvent) -> Iterator[str]:
        yield from self._answer_lines(event)
        yield from self._tool_lines(event)
        yield from _notice_lines(event)

    def _answer_lines(self, event: AgentEvent) -> Iterator[str]:
        match event:
            case TextDelta(agent_id=None):
                yield from self._answer(self._cleaner.feed(event.text))
            case Complete(agent_id=None) | ErrorEvent():
                yield from self._end_of_answer()
            case Tombstone(agent_id=None):
                was_answering = self._is_answering
                self._forget_answer()
                if was_answering:
                    yield "notice: the answer was cut off and is being rewritten"
            case Terminal(agent_id=None):
                yield from self._end_of_answer()
                yield _end_line(event)
            case _:
                pass

    def _tool_lines(self, event: AgentEvent) -> Iterator[str]:
        match event:
            case ToolDispatch():
                if is_sized(event.name):
                    self._inputs[event.tool_use_id] = event.input
                yield f"{_agent_prefix(event.agent_id)}tool: {shown_line(event.identifier)}"
            case ToolResult():
                tool_input = self._inputs.pop(event.tool_use_id, {})
                size = result_size(event.name, tool_input, event.text)
                was_asked = event.tool_use_id in self._asked_calls
                yield from _result(event, size, was_asked=was_asked)
                self._asked_calls.discard(event.tool_use_id)
            case PermissionRequested():
                self._open_requests.add(event.request_id)
                self._asked_calls.add(event.tool_use_id)
            case PermissionResolved() if event.request_id in self._open_requests:
                self._open_requests.discard(event.request_id)
                decision = event.decision
                if decision.source != "user":
                    verb = "allowed" if decision.behavior == "allow" else "denied"
                    who = decider_name(str(decision.source))
                    yield f"permission: {verb} by {who}, {shown_line(reason_text(decision))}"
            case _:
                pass

    def _answer(self, text: str) -> Iterator[str]:
        """Yield complete lines only, so that a screen reader never gets half a word."""
        *whole, self._rest = (self._rest + text).split("\n")
        for raw in whole:
            self._is_code ^= raw.lstrip().startswith("```")
            line = raw if self._is_code else _EMPHASIS.sub(r"\2", raw)
            if line.strip():
                yield line if self._is_answering else f"assistant: {line}"
                self._is_answering = True

    def _end_of_answer(self) -> Iterator[str]:
        yield from self._answer("\n")
        self._forget_answer()

    def _forget_answer(self) -> None:
        self._rest = ""
        self._is_answering = False
        self._is_code = False
        self._cleaner = Sanitizer()


def _notice_lines(event: AgentEvent) -> Iterator[str]:
    match event:
        case Notice():
            yield f"{'notice' if event.level == 'info' else event.level}: {_text(event.text)}"
        case ErrorEvent():
            yield f"error: {_text(event.message)}"
        case RetryScheduled():
            yield f"waiting: {event.delay_s:.0f} seconds, {_text(event.reason)}"
        case ModelFallback():
            yield f"notice: {event.to_model} replaces {event.from_model}, {event.reason}"
        case Compacted(means="shortening"):
            yield f"notice: {_text(event.summary)}"
        case Compacted():
            stay = f"{event.kept_count} messages were kept"
            if event.kept_count == 1:
                stay = "message was kept"
            yield (
                "notice: the conversation was compacted, "
                f"{event.tokens_before} to {event.tokens_after} tokens; the last {stay}"
            )
        case HookFinished():
            yield from (f"hook: {_text(notice)}" for notice in event.notices)
        case _:
            pass


def _end_line(event: Terminal) -> str:
    if event.reason == "completed":
        return "done."
    if event.reason in {"aborted_streaming", "aborted_tools"}:
        return "interrupted."
    if event.is_refused:
        return "stopped."
    detail = f", {_text(event.detail)}" if event.detail else ""
    return f"stopped: {event.reason.replace('_', ' ')}{detail}"


def _agent_prefix(agent_id: str | None) -> str:
    return "sub-agent, " if agent_id is not None else ""


def _text(text: str) -> str:
    return " ".join(sanitize(text).split())


def _result(event: ToolResult, size: str, *, was_asked: bool) -> Iterator[str]:
    """Yield how a call ended, then its change or output."""
    who = _agent_prefix(event.agent_id)
    display = shown_display(event.display)
    if event.outcome != "ok":
        text = display.text if isinstance(display, TextDisplay) else event.text
        first = next(iter(sanitize(text).strip().splitlines()), "")
        has_status = isinstance(display, CommandDisplay) and display.exit_code is not None
        if first.startswith(DECLINED):
            first = " ".join(comment_in(event.text).split())
            yield f"{who}result: denied by you" + (f", “{first}”" if first else "")
        else:
            # After an interruption the rest of the text is an instruction for the model.
            is_said = has_status or event.outcome == "interrupted"
            detail = f", {first}" if first and not is_said else ""
            yield f"{who}result: {event.outcome}{detail}"
    is_failure_text = event.outcome != "ok" and isinstance(display, TextDisplay)
    lines = display_lines(display) if display is not None and not is_failure_text else []
    if isinstance(display, DiffDisplay) and was_asked:
        lines = lines[:1]
    if event.outcome == "ok" and not lines:
        yield f"{who}result: {size or count_text(len(event.text.splitlines()), 'line')}"
    if isinstance(display, CommandDisplay):
        # The status, and the end of the output, which usually has the result.
        status = lines[: display.exit_code is not None]
        yield from (*status, *limit_lines(lines[len(status) :], from_end=True))
    else:
        yield from limit_lines(lines)


def limit_lines(lines: Sequence[str], *, from_end: bool = False) -> Iterator[str]:
    """Yield the first lines and a note about the rest; or with `from_end`, the last ones."""
    # A single extra line is written: the note that it was left out would take a line as well.
    count = len(lines) if len(lines) <= MAX_RESULT_LINES + 1 else MAX_RESULT_LINES
    left_out = len(lines) - count
    if from_end and left_out:
        yield f"{left_out} earlier lines, not read"
    yield from lines[left_out:] if from_end else lines[:count]
    if left_out and not from_end:
        yield f"{left_out} more lines, not read"


def display_lines(display: Display) -> list[str]:
    """Return the lines of a call's display: its change, its output or its tasks."""
    match display:
        case DiffDisplay():
            return list(_change(display))
        case CommandDisplay():
            output = [f"output: {line}" for line in display.output.splitlines() if line.strip()]
            if display.exit_code is not None:
                return [f"result: exit status {display.exit_code}", *output]
            return output
        case TodoDisplay():
            signs = {"completed": "done", "in_progress": "now", "pending": "to do"}
            return [f"task, {signs[item.status]}: {item.content}" for item in display.items]
        case _:
            return []


def _change(display: DiffDisplay) -> Iterator[str]:
    diff = diff_texts(display.old, display.new, 0)
    what = "new file" if display.is_new else "change"
    line_count = count_text(diff.added_count, "line")
    yield f"{what}: {display.path}, {line_count} added, {diff.removed_count} removed"
    for hunk in diff.hunks:
        for line in hunk:
            match line.kind:
                case "added":
                    yield f"line {line.new_number} added: {line.text}"
                case "removed":
                    yield f"line {line.old_number} removed: {line.text}"
                case "same":
                    pass
