"""Spans."""

from __future__ import annotations

import asyncio
import gc

import pytest

from agent.observe.spans import SPAN_TTL_S, FinishedSpan, Tracer


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def traced(*, keeps_content: bool = False) -> tuple[Tracer, Clock, list[FinishedSpan]]:
    clock, seen = Clock(), list[FinishedSpan]()
    tracer = Tracer(clock=clock, wall_clock=clock, keeps_content=keeps_content)
    tracer.export_to(seen.append)
    return tracer, clock, seen


def test_spans_nest_by_context() -> None:
    tracer, clock, seen = traced()
    with tracer.span("interaction"), tracer.span("tool", "Bash") as tool:
        clock.now = 2.0
        with tracer.span("blocked_on_user"):
            clock.now = 5.0
        tool.set(exit_status=0)
    blocked, bash, root = seen
    assert (blocked.parent_id, bash.parent_id, root.parent_id) == (bash.id, root.id, None)
    assert {span.trace_id for span in seen} == {root.id}
    assert (blocked.duration_s, bash.duration_s) == (3.0, 5.0)
    assert (bash.name, bash.attributes) == ("Bash", {"exit_status": 0})


async def test_parallel_tasks_keep_their_own_parents() -> None:
    tracer, _, seen = traced()

    async def tool(name: str) -> None:
        with tracer.span("tool", name):
            await asyncio.sleep(0)
            with tracer.span("hook", name):
                await asyncio.sleep(0)

    with tracer.span("interaction"):
        await asyncio.gather(tool("a"), tool("b"))
    ids = {span.id: span for span in seen}
    hooks = [span for span in seen if span.kind == "hook"]
    assert all(ids[hook.parent_id or 0].name == hook.name for hook in hooks)


def test_a_span_is_ended_by_hand_and_once() -> None:
    tracer, clock, seen = traced()
    first, second = tracer.start("llm_request", "a"), tracer.start("llm_request", "b")
    clock.now = 1.0
    first.end("ok", output_tokens=5)
    second.end("error")
    first.end("error")
    assert [(span.name, span.status) for span in seen] == [("a", "ok"), ("b", "error")]
    assert seen[0].attributes == {"output_tokens": 5}


async def test_failures_and_cancellations_are_told_apart() -> None:
    tracer, _, seen = traced()
    with pytest.raises(ValueError, match="x"), tracer.span("tool"):
        raise ValueError("x")
    with pytest.raises(asyncio.CancelledError), tracer.span("tool"):
        raise asyncio.CancelledError
    assert [span.status for span in seen] == ["error", "interrupted"]


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


@pytest.mark.parametrize("keeps_content", [False, True])
def test_content_is_kept_only_on_request(keeps_content: bool) -> None:
    tracer, _, seen = traced(keeps_content=keeps_content)
    with tracer.span("interaction") as span:
        span.set_content(prompt="my secret plan")
    assert seen[0].content == ({"prompt": "my secret plan"} if keeps_content else {})
