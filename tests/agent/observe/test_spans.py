"""Spans."""

from __future__ import annotations

import gc

import pytest

from agent.observe.spans import SPAN_TTL_S, FinishedSpan, Tracer


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def traced(*, records_content: bool = False) -> tuple[Tracer, Clock, list[FinishedSpan]]:
    clock, seen = Clock(), list[FinishedSpan]()
    tracer = Tracer(clock=clock, wall_clock=clock, records_content=records_content)
    tracer.export_to(seen.append)
    return tracer, clock, seen


def test_spans_hang_below_their_parents() -> None:
    tracer, clock, seen = traced()
    root = tracer.start("interaction")
    tool = tracer.start("tool", "Bash", parent=root)
    clock.now = 2.0
    waiting = tracer.start("blocked_on_user", parent=tool)
    clock.now = 5.0
    waiting.end()
    tool.set(exit_status=0)
    tool.end()
    root.end()
    blocked, bash, top = seen
    assert (blocked.parent_id, bash.parent_id, top.parent_id) == (bash.id, top.id, None)
    assert {span.trace_id for span in seen} == {top.id}
    assert (blocked.duration_s, bash.duration_s) == (3.0, 5.0)
    assert (bash.name, bash.attributes) == ("Bash", {"exit_status": 0})


def test_a_span_is_ended_by_hand_and_once() -> None:
    tracer, clock, seen = traced()
    first, second = tracer.start("llm_request", "a"), tracer.start("llm_request", "b")
    clock.now = 1.0
    first.end("ok", output_tokens=5)
    second.end("error")
    first.end("error")
    assert [(span.name, span.status) for span in seen] == [("a", "ok"), ("b", "error")]
    assert seen[0].attributes == {"output_tokens": 5}


def test_forgotten_spans_are_abandoned_after_their_time() -> None:
    tracer, clock, seen = traced()
    kept = tracer.start("llm_request")
    tracer.start("tool")
    gc.collect()
    clock.now = SPAN_TTL_S
    assert tracer.sweep() == 0
    assert tracer.open_spans == 1
    clock.now += 1
    assert tracer.sweep() == 1
    assert (kept.status, [span.status for span in seen]) == ("abandoned", ["abandoned"])
    assert tracer.open_spans == 0


@pytest.mark.parametrize("records_content", [False, True])
def test_content_is_kept_only_on_request(records_content: bool) -> None:
    tracer, _, seen = traced(records_content=records_content)
    span = tracer.start("interaction")
    span.set_content(prompt="my secret plan")
    span.end()
    assert seen[0].content == ({"prompt": "my secret plan"} if records_content else {})
