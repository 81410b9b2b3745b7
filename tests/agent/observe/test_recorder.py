"""Spans and log events made from the agent's event stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.events import (
    AgentEvent,
    Complete,
    ErrorEvent,
    HookFinished,
    HookStarted,
    MessageCommitted,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    Terminal,
    ToolDispatch,
    ToolResult,
    Usage,
)
from agent.messages import user_message
from agent.observe.event_log import EventLog, LoggedEvent
from agent.observe.recorder import EventRecorder
from agent.observe.span_file import SpanFile, read_spans
from agent.observe.spans import FinishedSpan, Tracer
from agent.observe.timeline import render_timeline
from permissions.decision import Behavior, Decision, DecisionSource, Reason, ReasonType

ASKED = Decision(
    behavior=Behavior.ASK,
    source=DecisionSource.MODE,
    reason_type=ReasonType.MODE,
    reason=Reason.MODE_DEFAULT,
    message="asks",
)
ALLOWED = Decision(
    behavior=Behavior.ALLOW,
    source=DecisionSource.USER,
    reason_type=ReasonType.USER,
    reason=Reason.USER,
    message="yes",
)
PROMPT = MessageCommitted("t", user_message("my secret plan"))
BASH: list[AgentEvent] = [
    ToolDispatch("t", "c1", "Bash", {"command": "secret"}, "Bash secret"),
    HookStarted("t", "PreToolUse", tool_use_id="c1"),
    HookFinished("t", "PreToolUse", "success", tool_use_id="c1"),
    PermissionRequested("t", "r1", "c1", "Bash", {"command": "secret"}, ASKED),
    PermissionResolved("t", "r1", "c1", ALLOWED),
    ToolResult("t", "c1", "Bash", "secret", False, 0.5, "ok"),
]


class Clock:
    """Goes on by a second whenever it is read."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def recorded(*events: AgentEvent) -> tuple[list[FinishedSpan], list[LoggedEvent], Tracer]:
    clock = Clock()
    spans, logged = list[FinishedSpan](), list[LoggedEvent]()
    tracer, log = Tracer(clock=clock, wall_clock=clock), EventLog(logged.append)
    tracer.export_to(spans.append)
    recorder = EventRecorder(tracer, log)
    for event in events:
        recorder.record(event)
    return spans, logged, tracer


def test_a_prompt_becomes_a_tree() -> None:
    spans, _, tracer = recorded(
        PROMPT,
        RequestStart("t", 1, "m"),
        Complete("t", "u", "tool_use", Usage(input_tokens=5, output_tokens=7)),
        *BASH,
        Terminal("t", "completed", turns=1),
    )
    by_kind = {span.kind: span for span in spans}
    parents = {span.id: span.kind for span in spans}
    assert {kind: parents.get(span.parent_id or -1) for kind, span in by_kind.items()} == {
        "llm_request": "interaction",
        "hook": "tool",
        "blocked_on_user": "tool",
        "tool": "interaction",
        "interaction": None,
    }
    assert by_kind["llm_request"].attributes["output_tokens"] == 7
    assert by_kind["interaction"].attributes == {"reason": "completed", "turns": 1}
    assert tracer.open_spans == 0


@pytest.mark.parametrize("words", ["the_password_is_hush", "mcp__the_password__is_hush"])
def test_a_tool_name_that_the_model_made_up_is_in_no_log(words: str) -> None:
    spans, logged, _ = recorded(
        PROMPT,
        ToolDispatch("t", "c", words, {}, words, has_tool=False),
        ToolResult("t", "c", words, "There is no such tool.", True, 0.0, "invalid"),
        Terminal("t", "completed", turns=1),
    )
    assert words not in f"{spans}{[event.as_json() for event in logged]}"
    assert "unknown" in {span.name for span in spans}


def test_each_attempt_is_a_span_of_its_own() -> None:
    spans, logged, _ = recorded(
        RequestStart("t", 1, "m"),
        RetryScheduled("t", 2, 11, 0.5, "overloaded"),
        RequestStart("t", 1, "m", attempt=2),
        Complete("t", "u", "end_turn", Usage()),
        Terminal("t", "completed"),
    )
    requests = [span for span in spans if span.kind == "llm_request"]
    assert [(span.attributes["attempt"], span.status) for span in requests] == [
        (1, "error"),
        (2, "ok"),
    ]
    assert [event.name for event in logged] == ["retry", "llm_response", "terminal"]


def test_an_interrupted_run_leaves_nothing_open() -> None:
    spans, _, tracer = recorded(
        PROMPT, RequestStart("t", 1, "m"), Terminal("t", "aborted_streaming")
    )
    assert [span.status for span in spans] == ["interrupted", "interrupted"]
    assert tracer.open_spans == 0


def test_sub_agents_hang_below_their_prompt() -> None:
    spans, _, _ = recorded(
        PROMPT,
        RequestStart("t", 1, "m", agent_id="a"),
        Terminal("t", "completed", agent_id="a"),
        Terminal("t", "completed"),
    )
    agent, prompt = (span for span in spans if span.kind == "interaction")
    assert (agent.name, agent.parent_id) == ("a", prompt.id)


def test_the_agents_of_parallel_calls_hang_below_their_calls() -> None:
    calls = [ToolDispatch("t", call, "Agent", {}, "Agent") for call in ("c1", "c2")]
    spans, _, _ = recorded(
        PROMPT,
        *calls,
        RequestStart("c2", 1, "m", agent_id="second"),
        RequestStart("c1", 1, "m", agent_id="first"),
        Terminal("c1", "completed", agent_id="first"),
        Terminal("c2", "completed", agent_id="second"),
        *(ToolResult("t", call, "Agent", "", False, 0.1, "ok") for call in ("c2", "c1")),
        Terminal("t", "completed"),
    )
    agents = {span.name: span.parent_id for span in spans if span.kind == "interaction"}
    tools = [span.id for span in spans if span.kind == "tool"]
    assert (agents["second"], agents["first"]) == tuple(tools)
    assert {span.trace_id for span in spans} == {spans[-1].id}


def test_nothing_that_anyone_said_is_recorded() -> None:
    spans, logged, _ = recorded(
        PROMPT,
        *BASH,
        ToolResult("t", "c2", "mcp__secret__tool", "secret", True, 0.1, "failed"),
        ErrorEvent("t", "secret", "secret"),
        ErrorEvent("t", "overloaded", "secret"),
        Terminal("t", "error", "secret"),
    )
    assert "secret" not in repr(spans) + repr(logged)
    assert [event.labels for event in logged if event.name == "error"] == [
        {},
        {"kind": "overloaded"},
    ]


def test_spans_survive_a_file_with_damage(tmp_path: Path) -> None:
    spans, _, _ = recorded(PROMPT, *BASH, Terminal("t", "completed"))
    path = tmp_path / "spans.jsonl"
    write = SpanFile(path)
    for span in spans:
        write(span)
    with path.open("a") as file:
        file.write('{"id": 1}\n[]\n{"torn')
    assert list(read_spans(path)) == spans
    assert path.stat().st_mode & 0o077 == 0


def test_a_directory_that_is_gone_is_no_failure_of_the_run(tmp_path: Path) -> None:
    spans, _, _ = recorded(PROMPT, Terminal("t", "completed"))
    write = SpanFile(tmp_path / "gone" / "spans")
    write(spans[0])
    write(spans[0])
    assert write.failure is not None


def span(
    identity: int, parent: int | None, kind: str, start: float, duration: float, status: str = "ok"
) -> FinishedSpan:
    return FinishedSpan(
        identity, parent, 1, kind, "", start, duration, status, {}, {}  # type: ignore[arg-type]
    )  # fmt: skip


def test_the_timeline_shows_order_depth_and_share() -> None:
    spans = [
        span(3, 2, "blocked_on_user", 5.0, 2.0),
        span(2, 1, "tool", 4.0, 6.0, "error"),
        span(1, None, "interaction", 0.0, 10.0),
        span(9, 77, "hook", 20.0, 0.004),
    ]
    assert list(render_timeline(spans, width_cells=55)) == [
        "interaction                           10.0 s ██████████",
        "  tool [error]                         6.0 s     ██████",
        "    blocked_on_user                    2.0 s      ░░",
        "hook                                    4 ms ██████████",
    ]
