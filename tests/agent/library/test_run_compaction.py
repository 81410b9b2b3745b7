"""Runs that fill the model's window are compacted as conversations of the program are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent import (
    Agent,
    RunConfig,
    Runner,
    RunState,
    TranscriptSession,
    function_tool,
    program_gate,
)
from agent.library.base.raw_items import InputItem
from agent.model.client import ModelError
from agent.model.scripted.faults import Status
from agent.model.scripted.scenario import ModelInfo, Text, ToolCall, Turn, When
from tests.agent.library.conftest import Serve

DONE = Turn((Text("Done."),), times=0)
SMALL = ModelInfo("claude-opus-5-5", max_input_tokens=19_500, max_tokens=4_000)
SUMMARY = Turn((Text("They counted to six."),), when=When(prompt="about to be compacted"), times=0)
TOO_LONG = Status(400, message="prompt is too long: 210000 tokens > 200000 maximum")
PAGE = "words and more words " * 400


def talk(count: int) -> list[InputItem]:
    """Return a long conversation that waits for an answer."""
    items: list[InputItem] = []
    for number in range(count):
        items.append({"role": "user", "content": f"Page {number}: {PAGE}"})
        items.append({"role": "assistant", "content": f"Page {number} is read: {PAGE}"})
    return [*items, {"role": "user", "content": "And now?"}]


@function_tool
def turn_page(number: int) -> str:
    """Turn a page."""
    return f"page {number}: {PAGE}"


async def test_old_results_are_shortened_and_the_result_has_them(serve: Serve) -> None:
    calls = [Turn((ToolCall("turn_page", {"number": number}),)) for number in range(7)]
    server = await serve(*calls, SUMMARY, DONE, models=[SMALL])
    result = await Runner.run(Agent("A", tools=[turn_page]), "read on")
    assert result.final_output == "Done."
    last = json.dumps(server.requests[-1].body)
    assert len(last) < 4 * len(PAGE)
    assert "page 6: words" in last
    outputs = [each for each in result.to_input_list() if each.get("type", "").endswith("_output")]
    assert [len(each["output"]) > len(PAGE) for each in outputs] == [True] * 7


async def test_a_summary_takes_the_place_of_what_was_written(serve: Serve) -> None:
    server = await serve(SUMMARY, DONE, models=[SMALL])
    fired: list[object] = []

    async def hear(payload: Mapping[str, object]) -> Mapping[str, object]:
        fired.append((payload["hook_event_name"], payload.get("source")))
        output = {"hookEventName": "SessionStart", "additionalContext": "It is Monday."}
        return {"hookSpecificOutput": output} if payload.get("source") == "compact" else {}

    gate = program_gate(hooks={name: [hear] for name in ("PreCompact", "SessionStart")})
    result = await Runner.run(Agent("A"), talk(3), run_config=RunConfig(permissions=gate))
    assert result.final_output == "Done."
    asked, last = server.requests[-2].body, json.dumps(server.requests[-1].body["messages"])
    assert "about to be compacted" in json.dumps(asked)
    assert "They counted to six." in last
    assert "And now?" in last
    assert "It is Monday." in last
    assert len(last) < 4 * len(PAGE)
    assert fired == [("SessionStart", "startup"), ("PreCompact", None), ("SessionStart", "compact")]
    assert result.context_wrapper.usage.requests == 2
    state = await RunState.from_string(Agent("A"), result.to_state().to_string())
    assert state.compaction == result.to_state().compaction


async def test_a_session_of_the_program_continues_from_the_summary(serve: Serve) -> None:
    server = await serve(SUMMARY, DONE, models=[SMALL])
    session = TranscriptSession()
    await session.add_items(talk(3)[:-1])
    await Runner.run(Agent("A"), "And now?", session=session)
    assert len(server.requests) == 2
    await Runner.run(Agent("A"), "And then?", session=TranscriptSession(session.session_id))
    last = json.dumps(server.requests[-1].body["messages"])
    assert len(server.requests) == 3
    assert last.index("They counted") < last.index("And now?") < last.index("And then?")


async def test_a_refused_prompt_is_compacted_once(serve: Serve) -> None:
    refused = Turn(fault=TOO_LONG)
    server = await serve(refused, SUMMARY, DONE)
    result = await Runner.run(Agent("A"), talk(3))
    assert result.final_output == "Done."
    assert len(json.dumps(server.requests[-1].body)) < len(json.dumps(server.requests[0].body)) / 2
    await serve(Turn(fault=TOO_LONG, times=0))
    with pytest.raises(ModelError, match="too long"):
        await Runner.run(Agent("A"), talk(3))


async def test_a_setting_turns_it_off(serve: Serve, fresh_home: Path) -> None:
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"autoCompactEnabled": False, "autoCompactWindow": 6_000}))
    server = await serve(SUMMARY, DONE)
    await Runner.run(Agent("A"), talk(3))
    assert len(server.requests) == 1
    settings.write_text(json.dumps({"autoCompactWindow": 6_000}))
    config = RunConfig(permissions=program_gate())
    await Runner.run(Agent("A"), talk(3), run_config=config)
    assert len(server.requests) == 3
