"""What programs written for the Agents SDK do besides running agents."""

from __future__ import annotations

import json

import pytest

import agent as library
from agent import (
    Agent,
    FunctionTool,
    GenerationSpanData,
    RawResponsesStreamEvent,
    RunConfig,
    Runner,
    Tool,
    ToolErrorFormatterArgs,
    set_trace_processors,
    tool,
)
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve
from tests.agent.library.test_run_compaction import DONE

CALL = Turn((ToolCall("look", {"where": "up"}),))


@tool
def look(where: str) -> str:
    """Look somewhere."""
    return f"nothing {where}"


async def test_arguments_of_calls_are_streamed_behind_their_name(serve: Serve) -> None:
    await serve(CALL, DONE)
    result = Runner.run_streamed(Agent("A", tools=[look]), "go")
    events = [each async for each in result.stream_events()]
    raw = [each.data for each in events if isinstance(each, RawResponsesStreamEvent)]
    added = [each for each in raw if each.type == "response.output_item.added"]
    assert [(each.item.name, each.item.arguments) for each in added] == [("look", "")]
    parts = [each for each in raw if each.type == "response.function_call_arguments.delta"]
    assert json.loads("".join(each.delta for each in parts)) == {"where": "up"}
    assert {each.item_id for each in parts} == {added[0].item.id}
    done = [each.item for each in raw if each.type == "response.output_item.done"]
    assert (done[0].id, done[0].call_id) == (added[0].item.id, added[0].item.call_id)


class Collected:
    """A processor that holds the spans that ended."""

    def __init__(self) -> None:
        self.spans: list[library.Span] = []

    def on_trace_start(self, trace: library.Trace) -> None:
        return

    on_trace_end = on_trace_start

    def on_span_start(self, span: library.Span) -> None:
        return

    def on_span_end(self, span: library.Span) -> None:
        self.spans.append(span)

    def shutdown(self) -> None:
        return

    force_flush = shutdown


@pytest.mark.parametrize("is_open", [True, False])
async def test_each_model_call_has_a_span(serve: Serve, *, is_open: bool) -> None:
    await serve(CALL, DONE)
    collected = Collected()
    set_trace_processors([collected])
    try:
        config = RunConfig(trace_include_sensitive_data=is_open)
        await Runner.run(Agent("A", tools=[look]), "go", run_config=config)
    finally:
        set_trace_processors([])
    found = [each.export() for each in collected.spans]
    calls = [each for each in collected.spans if isinstance(each.span_data, GenerationSpanData)]
    assert [vars(each.span_data)["model"] for each in calls] == ["claude-opus-5-5"] * 2
    assert vars(calls[0].span_data)["usage"]["output_tokens"] > 0
    assert ("nothing up" in json.dumps(found)) is is_open


async def test_names_may_have_type_parameters(serve: Serve) -> None:
    def words(args: ToolErrorFormatterArgs[None]) -> str:
        return f"no {args.tool_name}"

    await serve(Turn((ToolCall("erase", {}),)), Turn((Text("Done."),)))
    config = RunConfig(tool_error_formatter=words, tool_not_found_behavior="return_error_to_model")
    tools: list[Tool] = [look]
    assert isinstance(look, FunctionTool)
    result = await Runner.run(Agent("A", tools=tools), "go", run_config=config)
    assert result.to_input_list()[2]["output"] == "no erase"


def test_an_import_of_what_is_not_here_says_what_takes_its_place() -> None:
    with pytest.raises(ImportError, match="name models by provider"):
        exec("from agent import OpenAIProvider")
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        exec("from agent import Nothing")
    assert not hasattr(library, "Nothing")
