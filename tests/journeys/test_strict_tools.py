"""Calls held to their schemas where the endpoint says that it can."""

from __future__ import annotations

import pytest

from agent.events import Notice
from agent.model.scripted.faults import Status
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    ToolCall,
    Turn,
    When,
)
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import Begin
from tests.journeys.start import model_at

MODEL = "a-model-of-the-house"
GRAMMAR = (
    "The compiled grammar is too large, which would cause performance issues. Simplify your tool "
    "schemas or reduce the number of strict tools."
)
ASK = ToolCall("Agent", {"description": "look", "prompt": "Look.", "subagent_type": "Explore"})
TURNS = (
    Turn((Text("Looked."),), when=When(system="You work for another agent"), times=0),
    Turn((ASK,)),
    Turn((Text("Done."),), times=0),
)


def house(*, has_it: bool = True, faults: tuple[FaultPlan, ...] = ()) -> Scenario:
    model = ModelInfo(MODEL, structured_outputs=has_it)
    return Scenario(turns=TURNS, models=(model,), faults=faults)


def strict(request: RecordedRequest) -> set[str]:
    return {tool["name"] for tool in request.body["tools"] if tool.get("strict")}


@pytest.mark.parametrize("has_it", [True, False])
async def test_our_tools_are_strict_where_the_model_has_it(begin: Begin, has_it: bool) -> None:
    async with ScriptedServer(house(has_it=has_it)) as server:
        journey = await begin(server=server, model_setup=model_at(server.base_url, MODEL))
        await journey.send("go")
    requests = server.requests
    assert [each.problem for each in requests] == [""] * 3
    first, inside, last = map(strict, requests)
    assert ({"Read", "Edit", "Write", "Bash", "TodoWrite", "Agent"} <= first) is has_it
    assert ({"Read", "Glob"} <= inside) is has_it
    assert first == last


async def test_a_grammar_that_is_too_large_costs_strictness_for_the_session(begin: Begin) -> None:
    faults = (FaultPlan(Status(400, message=GRAMMAR), request=1),)
    async with ScriptedServer(house(faults=faults)) as server:
        journey = await begin(server=server, model_setup=model_at(server.base_url, MODEL))
        events = await journey.send("go")
        await journey.send("again")
    requests = server.requests
    assert [each.status for each in requests] == [400, 200, 200, 200, 200]
    assert strict(requests[0])
    assert not any(map(strict, requests[1:]))
    read = next(tool for tool in requests[1].body["tools"] if tool["name"] == "Read")
    assert "minimum" in str(read["input_schema"])
    assert not [event for event in events if isinstance(event, Notice)]
