"""What follows from an answer is decided by the program's loop, in runs of the library too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from agent import Agent, DurableRunner, ModelBehaviorError, Runner, function_tool
from agent.loop.answer_schema import MAX_CORRECTIONS
from agent.loop.turn_machine import CONTINUATION, MAX_OUTPUT_RECOVERIES
from agent.model.scripted.scenario import RawBlock, Text, ToolCall, Turn
from tests.agent.library.conftest import Serve
from tests.agent.library.test_run_compaction import DONE, SMALL, SUMMARY, TOO_LONG, talk


class Verdict(BaseModel):
    """What a reviewer says."""

    approved: bool


async def test_an_answer_that_the_limit_cut_is_continued(serve: Serve) -> None:
    cut = Turn((Text("One, "),), stop_reason="max_tokens")
    server = await serve(cut, Turn((Text("two."),)))
    result = await Runner.run(Agent("A"), "count", max_turns=1)
    assert result.final_output == "One, two."
    assert CONTINUATION in json.dumps(server.requests[-1].body["messages"][-1])
    kinds = [item.type for item in result.new_items]
    assert kinds == ["message_output_item", "input_item", "message_output_item"]


async def test_an_object_that_the_limit_cut_is_read_as_one(serve: Serve) -> None:
    await serve(
        Turn((Text('{"appro'),), stop_reason="max_tokens"), Turn((Text('ved": true}'),), times=0)
    )
    result = await Runner.run(Agent("A", output_type=Verdict), "judge", max_turns=1)
    assert result.final_output == Verdict(approved=True)


async def test_an_answer_that_is_cut_again_and_again_is_left_as_it_is(serve: Serve) -> None:
    server = await serve(Turn((Text("on "),), stop_reason="max_tokens", times=0))
    result = await Runner.run(Agent("A"), "count")
    assert result.final_output == "on " * (MAX_OUTPUT_RECOVERIES + 1)
    assert len(server.requests) == MAX_OUTPUT_RECOVERIES + 1


async def test_a_pause_of_the_endpoint_is_no_turn(serve: Serve) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    pause = Turn((RawBlock(search),), stop_reason="pause_turn")
    server = await serve(pause, Turn((RawBlock(found), Text("Nothing found."))))
    result = await Runner.run(Agent("A"), "search", max_turns=1)
    assert result.final_output == "Nothing found."
    assert server.requests[-1].body["messages"][-1]["content"][0]["type"] == "server_tool_use"
    assert len(server.requests) == 2


async def test_what_the_endpoint_ran_itself_does_not_ask_for_another_turn(serve: Serve) -> None:
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    server = await serve(Turn((RawBlock(search), RawBlock(found), Text("Nothing."))), DONE)
    assert (await Runner.run(Agent("A"), "search")).final_output == "Nothing."
    assert len(server.requests) == 1


async def test_corrections_are_no_turns_and_end(serve: Serve) -> None:
    await serve(Turn((Text("No."),)), Turn((Text('{"approved": true}'),)))
    agent = Agent("A", output_type=Verdict)
    result = await Runner.run(agent, "judge", max_turns=1)
    assert result.final_output == Verdict(approved=True)
    assert [item.type for item in result.new_items][1] == "input_item"
    server = await serve(Turn((Text("No."),), times=0))
    with pytest.raises(ModelBehaviorError, match="Invalid JSON"):
        await Runner.run(agent, "judge", max_turns=1)
    assert len(server.requests) == MAX_CORRECTIONS + 1


async def test_a_window_that_an_answer_filled_is_compacted(serve: Serve) -> None:
    full = Turn((Text("It was"),), stop_reason="model_context_window_exceeded")
    server = await serve(full, SUMMARY, DONE)
    result = await Runner.run(Agent("A"), talk(3))
    assert result.final_output.endswith("Done.")
    assert "They counted" in json.dumps(server.requests[-1].body)


async def test_a_refused_prompt_is_compacted_in_a_durable_run_too(
    serve: Serve, tmp_path: Path
) -> None:
    @function_tool(needs_approval=True)
    def erase(name: str) -> str:
        return f"{name} is gone"

    call = Turn((ToolCall("erase", {"name": "a"}),))
    server = await serve(Turn(fault=TOO_LONG), SUMMARY, call, DONE, models=[SMALL])
    agent = Agent("Eraser", tools=[erase])
    async with DurableRunner([agent], tmp_path / "runs.db") as runner:
        run = await runner.start(agent, talk(1), run_id="one")
        assert len(await run.interruptions()) == 1
    async with DurableRunner([agent], tmp_path / "runs.db") as runner:
        run = runner.get("one")
        await run.approve((await run.interruptions())[0])
        assert (await run.result()).final_output == "Done."
    assert len(server.requests) == 4
    assert "They counted" in json.dumps(server.requests[-1].body)
