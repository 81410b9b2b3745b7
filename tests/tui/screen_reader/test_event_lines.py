"""What is said of each event, and what is not."""

from __future__ import annotations

from msgspec.structs import replace

from agent.display import CommandDisplay, DiffDisplay, TodoDisplay, TodoItem
from agent.events import (
    AgentEvent,
    Complete,
    ErrorEvent,
    Notice,
    PermissionRequested,
    PermissionResolved,
    Terminal,
    TextDelta,
    Tombstone,
    ToolDispatch,
    ToolResult,
    Usage,
)
from permissions.decision import DecisionSource
from tests.tui.dialogs.test_dialogs import PENDING
from tests.tui.transcript.samples import DENIED
from tui.screen_reader.event_lines import MAX_RESULT_LINES, EventLines

T = "t1"


def said(*events: AgentEvent) -> list[str]:
    event_lines = EventLines()
    return [line for event in events for line in event_lines.lines(event)]


def text(*pieces: str) -> list[AgentEvent]:
    return [TextDelta(T, "m", 0, piece) for piece in pieces]


END = Complete(T, "m", "end_turn", Usage())


def test_an_answer_is_read_by_whole_lines_and_labeled_once() -> None:
    assert said(*text("I lo", "ok.\n\nThen", " I **fix** it."), END) == [
        "assistant: I look.",
        "Then I fix it.",
    ]


def test_code_keeps_its_stars() -> None:
    assert said(*text("```\na ** b ** c\n```\n"), END)[1] == "a ** b ** c"


def test_control_sequences_are_not_read() -> None:
    assert said(*text("a\x1b]0;owned\x07b\n"), END) == ["assistant: ab"]


def test_an_answer_that_broke_off_is_taken_back() -> None:
    events = [*text("One.\nTw"), Tombstone(T, "m", "cut"), *text("New.\n"), END]
    assert said(*events) == [
        "assistant: One.",
        "notice: the answer was cut off and is being rewritten",
        "assistant: New.",
    ]


def test_a_call_and_its_change() -> None:
    change = DiffDisplay("a.py", "x\n", "y\n")
    assert said(
        ToolDispatch(T, "u", "Edit", {}, "Edit a.py"),
        ToolResult(T, "u", "Edit", "done", False, 0.1, "ok", "Edit a.py", change),
    ) == [
        "tool: Edit a.py",
        "change: a.py, 1 line added, 1 removed",
        "line 1 removed: x",
        "line 1 added: y",
    ]


def test_a_change_that_was_asked_about_is_not_read_twice() -> None:
    change = DiffDisplay("a.py", "x\n", "y\n")
    asked = PermissionRequested(T, "r", "u", "Edit", {}, PENDING, change)
    result = ToolResult(T, "u", "Edit", "done", False, 0.1, "ok", "Edit a.py", change)
    assert said(asked, result) == ["change: a.py, 1 line added, 1 removed"]


def test_of_a_long_output_the_end_is_read() -> None:
    output = "\n".join(f"{number}" for number in range(40))
    display = CommandDisplay("seq", output, 1)
    lines = said(ToolResult(T, "u", "Bash", output, True, 0.1, "failed", "Bash seq", display))
    left_out = 40 - MAX_RESULT_LINES
    told = ["result: failed", "result: exit status 1", f"{left_out} earlier lines, not read"]
    assert lines == told + [f"output: {number}" for number in range(left_out, 40)]


def test_tasks_are_words() -> None:
    items = (TodoItem("Read", "completed"), TodoItem("Fix", "in_progress"))
    lines = said(
        ToolResult(T, "u", "TodoWrite", "", False, 0, "ok", "TodoWrite", TodoDisplay(items))
    )
    assert lines == ["task, done: Read", "task, now: Fix"]


def test_who_decided_is_reported_when_no_one_was_needed() -> None:
    asked = PermissionRequested(T, "r", "u", "Bash", {}, PENDING)
    by_hook = replace(DENIED, source=DecisionSource.HOOK)
    resolved = PermissionResolved(T, "r", "u", by_hook)
    assert said(resolved) == []
    assert said(asked, resolved)[0].startswith("permission: denied by a hook, ")


def test_ends() -> None:
    assert said(Terminal(T, "completed")) == ["done."]
    assert said(Terminal(T, "aborted_tools")) == ["interrupted."]
    assert said(Terminal(T, "max_turns", "after 3")) == ["stopped: max turns, after 3"]
    assert said(Terminal(T, "stop_hook_prevented", "told before")) == ["stopped."]
    assert said(ErrorEvent(T, "network", "No connection.\nTry again.")) == [
        "error: No connection. Try again."
    ]
    assert said(Notice(T, "warning", "odd"), Notice(T, "info", "fine")) == [
        "warning: odd",
        "notice: fine",
    ]
