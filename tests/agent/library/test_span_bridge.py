"""Traces of runs become spans of the program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent import Agent, RunConfig, Runner, function_tool, set_trace_processors, span_file
from agent.model.scripted.scenario import Text, ToolCall, Turn
from agent.observe.span_file import read_spans
from tests.agent.library.conftest import Serve


@pytest.fixture(name="spans")
def spans_in_a_file(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "spans.jsonl"
    set_trace_processors([span_file(path)])
    yield path
    set_trace_processors([])


@function_tool
def look() -> str:
    """Look around."""
    return "nothing"


async def test_a_run_is_a_tree_of_model_calls_and_tools(serve: Serve, spans: Path) -> None:
    await serve(Turn((ToolCall("look", {}),)), Turn((Text("Done."),)))
    config = RunConfig(workflow_name="Look")
    await Runner.run(Agent("Looker", tools=[look]), "go", run_config=config)
    found = list(read_spans(spans))
    root = found[-1]
    assert [(span.kind, span.name) for span in found] == [
        ("llm_request", "claude-opus-5-5"),
        ("tool", "look"),
        ("llm_request", "claude-opus-5-5"),
        ("interaction", "Look"),
    ]
    assert {span.trace_id for span in found} == {root.id}
    assert {span.parent_id for span in found[:-1]} == {root.id}


async def test_a_run_without_tracing_leaves_no_span(serve: Serve, spans: Path) -> None:
    await serve(Turn((Text("Done."),)))
    await Runner.run(Agent("Looker"), "go", run_config=RunConfig(tracing_disabled=True))
    assert not spans.exists()
