"""Spans handed to OpenTelemetry."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.trace import (
    NonRecordingSpan,
    NoOpTracer,
    SpanContext,
    get_current_span,
)

from agent.observe.otel import OtelExporter, missing_packages, otel_exporter
from agent.observe.spans import Tracer


class Recorded(NonRecordingSpan):
    """A span of the API that remembers its name, parent and times."""

    def __init__(self, identity: int, name: str, parent: int, start: int) -> None:
        super().__init__(SpanContext(1, identity, is_remote=False))
        self.name, self.parent, self.start, self.ended = name, parent, start, 0

    def end(self, end_time: int | None = None) -> None:
        self.ended = end_time or 0


class Recorder(NoOpTracer):
    def __init__(self) -> None:
        self.spans: list[Recorded] = []

    def start_span(  # type: ignore[override]
        self, name: str, context: Context | None = None, *, start_time: int = 0, **_: Any
    ) -> Recorded:
        parent = get_current_span(context).get_span_context().span_id
        self.spans.append(Recorded(len(self.spans) + 1, name, parent, start_time))
        return self.spans[-1]


def test_a_tree_is_exported_from_its_root_with_its_own_times() -> None:
    recorder, now = Recorder(), [1.0]
    tracer = Tracer(clock=lambda: now[0], wall_clock=lambda: now[0])
    tracer.export_to(OtelExporter(recorder))
    root = tracer.start("interaction", "prompt")
    tool = tracer.start("tool", "Bash", parent=root)
    now[0] = 2.0
    hook = tracer.start("hook", "PreToolUse", parent=tool)
    now[0] = 3.0
    hook.end()
    tool.end()
    assert recorder.spans == []
    root.end()
    second = 1_000_000_000
    assert [(s.name, s.parent, s.start, s.ended) for s in recorder.spans] == [
        ("prompt", 0, second, 3 * second),
        ("tool Bash", 1, second, 3 * second),
        ("hook PreToolUse", 2, 2 * second, 3 * second),
    ]


def test_an_agent_in_the_background_is_exported_behind_its_call() -> None:
    recorder = Recorder()
    tracer = Tracer()
    tracer.export_to(OtelExporter(recorder))
    root = tracer.start("interaction", "prompt")
    tool = tracer.start("tool", "Agent", parent=root)
    agent = tracer.start("interaction", "explore-1", parent=tool)
    request = tracer.start("llm_request", "m", parent=agent)
    for span in (tool, root, request, agent):
        span.end()
    names = ["prompt", "tool Agent", "explore-1", "llm_request m"]
    assert [(s.name, s.parent) for s in recorder.spans] == list(zip(names, range(4), strict=True))


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "OTEL_SDK_DISABLED": "true"},
    ],
)
def test_nothing_is_exported_unless_asked_for(env: dict[str, str]) -> None:
    assert otel_exporter(env) is None


def test_what_is_missing_is_reported_only_where_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert missing_packages({}) == ""
    assert missing_packages({**asked, "OTEL_SDK_DISABLED": "true"}) == ""
    assert "agent-tui[otel]" in missing_packages(asked)
