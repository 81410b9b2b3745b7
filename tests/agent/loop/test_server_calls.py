"""Tools that the endpoint runs are shown: one start and one result each, whatever happens."""

from __future__ import annotations

import pytest

from agent.events import AgentEvent, ToolDispatch, ToolResult, Usage
from agent.loop.server_calls import PENDING, REDACTED, ServerCalls
from agent.messages import Block
from agent.model.client import BlockStart, BlockStop, MessageStart
from agent.model.message_builder import MessageBuilder
from agent.stream import TurnEvents

CALL: Block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}


async def discard(_event: AgentEvent) -> None:
    """Nothing is emitted here."""


def shown(*blocks: Block) -> list[AgentEvent]:
    calls, fold = ServerCalls(TurnEvents(discard, "t")), MessageBuilder()
    fold.feed(MessageStart("m", "claude", Usage()))
    found: list[AgentEvent] = []
    for index, block in enumerate(blocks):
        for event in (BlockStart(index, block), BlockStop(index)):
            fold.feed(event)
            found += calls.on_event(event, fold)
    return [*found, *calls.close()]


def result(content: object) -> Block:
    return {"type": "web_search_tool_result", "tool_use_id": "s1", "content": content}


@pytest.mark.parametrize(
    ("content", "text", "is_error"),
    [
        ([{"title": "A", "url": "http://a"}], "A http://a", False),
        (
            {"type": "web_search_tool_result_error", "error_code": "unavailable"},
            "failed: unavailable",
            True,
        ),
        ({"type": "advisor_result", "text": "Do x."}, "Do x.", False),
        ({"type": "advisor_redacted_result", "encrypted_content": "…"}, REDACTED, False),
        ({"stdout": "1", "stderr": "2", "return_code": 0}, "1\n2", False),
    ],
)
def test_a_call_and_its_result(content: object, text: str, is_error: bool) -> None:
    start, end = shown(CALL, result(content))
    assert isinstance(start, ToolDispatch)
    assert start.identifier == "web_search x"
    assert isinstance(end, ToolResult)
    assert (end.text, end.is_error, end.identifier) == (text, is_error, "web_search x")


def test_a_call_without_a_result_gets_one() -> None:
    _, end = shown(CALL)
    assert isinstance(end, ToolResult)
    assert end.text == PENDING


def test_a_result_for_a_call_of_an_earlier_answer_is_shown_too() -> None:
    start, end = shown(result({"stdout": "1", "return_code": 0}))
    assert isinstance(start, ToolDispatch)
    assert isinstance(end, ToolResult)
    assert (start.name, start.tool_use_id, end.tool_use_id) == ("web_search", *["s1_result"] * 2)
    assert end.text == "1"
