"""Tools that are loaded on demand."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from agent.tools.base import Tool, ToolContext, ToolError, ToolOutcome, build_tool
from agent.tools.builtin.tool_search import tool_search_tool
from agent.tools.deferred_tools import DeferredTools
from agent.tools.registry import ToolRegistry
from tests.agent.tools.conftest import Bench


class Nothing(BaseModel):
    pass


async def run(_input: Nothing, _context: ToolContext) -> ToolOutcome:
    return ToolOutcome("done")


def deferred(name: str, description: str) -> Tool[Nothing]:
    return build_tool(
        name=name, description=description, input_model=Nothing, run=run, should_defer=True
    )


@pytest.fixture
def tools() -> DeferredTools:
    registry = ToolRegistry()
    registry.register(deferred("mcp__tracker__find_issue", "Finds issues by words."))
    registry.register(deferred("mcp__mail__send", "Sends a message about an issue."))
    return DeferredTools(registry)


async def test_the_best_match_is_loaded_first(bench: Bench, tools: DeferredTools) -> None:
    bench.services.deferred_tools = tools
    text = await bench.text(tool_search_tool(), query="find an issue", max_results=1)
    assert "mcp__tracker__find_issue" in text
    assert tools.loaded_names == ("mcp__tracker__find_issue",)
    assert tools.waiting() == ("mcp__mail__send",)


async def test_tools_are_loaded_by_name_and_unknown_ones_are_named(
    bench: Bench, tools: DeferredTools
) -> None:
    bench.services.deferred_tools = tools
    text = await bench.text(tool_search_tool(), query="select:mcp__mail__send,nosuch")
    assert "Unknown: nosuch." in text
    assert tools.loaded_names == ("mcp__mail__send",)


async def test_nothing_fits(bench: Bench, tools: DeferredTools) -> None:
    bench.services.deferred_tools = tools
    with pytest.raises(ToolError, match="No tool fits"):
        await bench.call(tool_search_tool(), query="zebra")


def test_the_search_is_offered_only_where_there_is_something_to_find() -> None:
    plain = ToolRegistry()
    plain.offer_search()
    assert plain.get("ToolSearch") is None
    plain.register(deferred("mcp__mail__send", "Sends."))
    plain.offer_search()
    names = [wire["name"] for wire in plain.to_wire()]
    assert names[-1] == "ToolSearch"
    assert "mcp__mail__send" not in names
    loaded = DeferredTools(plain)
    loaded.load(["mcp__mail__send"])
    assert [wire["name"] for wire in loaded.definitions()] == ["mcp__mail__send"]
