"""A model server of one's own: small windows, models that repeat themselves or call in words."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agent.events import Notice
from agent.model.scripted.faults import Status
from agent.model.scripted.scenario import FaultPlan, ModelInfo, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import Begin, results, terminal
from tests.journeys.program import environment, run
from tests.journeys.start import model_at

DONE = Turn((Text("Done."),), times=0)
AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@b")
MISSING = ToolCall("Read", {"file_path": "${cwd}/nowhere.txt"})


def tiny(window: int) -> Scenario:
    model = ModelInfo("tiny", max_input_tokens=window, max_tokens=window)
    return Scenario(turns=(DONE,), models=(model,))


@pytest.mark.parametrize(
    ("flags", "offered"),
    [
        ((), {"Read", "Edit", "Bash", "Grep"}),
        (("--tools", "Read,Glob"), {"Read", "Glob"}),
        (("--tools", "default"), {"Read", "Edit", "Bash", "Grep", "Write", "Agent"}),
    ],
)
async def test_a_small_window_gets_few_tools(
    tmp_path: Path, fresh_home: Path, flags: tuple[str, ...], offered: set[str]
) -> None:
    async with ScriptedServer(tiny(12_000)) as server:
        env = environment(fresh_home, server.base_url, ANTHROPIC_MODEL="tiny")
        status, _, err = await run("-p", "hi", *flags, cwd=tmp_path, env=env)
    assert status == 0, err
    names = {tool["name"] for tool in server.requests[0].body["tools"]}
    assert names > offered if "default" in flags else names == offered
    assert ("window is 12,000 tokens, so it has only the tools" in err) is not bool(flags)


async def test_a_window_without_room_is_named_with_both_numbers(
    tmp_path: Path, fresh_home: Path
) -> None:
    async with ScriptedServer(tiny(2_000)) as server:
        env = environment(fresh_home, server.base_url, ANTHROPIC_MODEL="tiny")
        status, _, err = await run("-p", "hi", cwd=tmp_path, env=env)
    assert status == 1
    assert err.count("the model's window is 2,000. Start the server with a larger one") == 1
    assert "compacted" not in err


async def test_a_first_prompt_that_is_refused_is_no_conversation_to_compact(
    tmp_path: Path, fresh_home: Path
) -> None:
    model = ModelInfo("claude-opus-5-5", max_input_tokens=8_000)  # known by name with a larger one
    _commit_something(tmp_path)  # git's state is a note in front of the prompt
    async with ScriptedServer(Scenario(turns=(DONE,), models=(model,))) as server:
        env = environment(fresh_home, server.base_url, ANTHROPIC_MODEL=model.id)
        status, _, err = await run("-p", "hi", cwd=tmp_path, env=env)
    assert (status, len(server.requests)) == (1, 1), err
    assert err.count("the model's window is 8,000") == 1
    assert "compacted" not in err


async def test_the_screen_says_once_that_a_window_has_no_room(begin: Begin) -> None:
    model = ModelInfo("tiny", max_input_tokens=2_000)
    async with ScriptedServer(Scenario(turns=(DONE,), models=(model,))) as server:
        setup = model_at(server.base_url, "tiny", small_model=None)
        journey = await begin(server=server, model_setup=setup)
        events = await journey.send("hi")
    shown = [str(event) for event in (*journey.assembled.notices, *events)]
    assert sum("Start the server with a larger one" in text for text in shown) == 1, shown
    assert any("has no room for the prompt" in text for text in shown)


async def test_the_servers_only_model_is_taken_without_a_name(
    tmp_path: Path, fresh_home: Path
) -> None:
    async with ScriptedServer(tiny(64_000)) as server:
        env = environment(fresh_home, server.base_url)
        del env["ANTHROPIC_MODEL"]
        status, out, err = await run("-p", "hi", cwd=tmp_path, env=env)
        assert (status, out) == (0, "Done.\n"), err
        assert server.requests[0].body["model"] == "tiny"
    both = Scenario(turns=(DONE,), models=(ModelInfo("one"), ModelInfo("two")))
    async with ScriptedServer(both) as server:
        env = {**env, "ANTHROPIC_BASE_URL": server.base_url}
        status, _, err = await run("-p", "hi", cwd=tmp_path, env=env)
    assert status != 0
    assert "It has: one, two." in err
    status, _, err = await run("-p", "hi", cwd=tmp_path, env=env)
    assert status != 0
    assert "It listed none: check that it runs and has loaded its model." in err


async def test_an_answer_that_did_not_fit_is_asked_for_smaller_from_then_on(begin: Begin) -> None:
    model = ModelInfo("claude-opus-5-5", max_input_tokens=36_000)
    scenario = Scenario(turns=(DONE,), models=(model,), models_endpoint=False)
    journey = await begin(scenario=scenario)
    await journey.send("one")
    await journey.send("two")
    assert [request.status for request in journey.server.requests] == [400, 200, 200]


async def test_a_prompt_that_leaves_little_room_fails_once_only(
    begin: Begin, fresh_home: Path
) -> None:
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text('{"autoCompactEnabled": false}')
    model = ModelInfo("claude-opus-5-5", max_input_tokens=36_000)
    scenario = Scenario(turns=(DONE,), models=(model,), models_endpoint=False)
    journey = await begin(scenario=scenario)
    await journey.send("hi " * 27_000)
    for _ in range(3):
        await journey.send("hi " * 400)
    requests = journey.server.requests
    assert [request.status for request in requests] == [400, 200, 200, 200, 200]
    asked = [request.body["max_tokens"] for request in requests[1:]]
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] < asked[0]


async def test_a_resumed_session_asks_for_what_fits_at_once(
    tmp_path: Path, fresh_home: Path
) -> None:
    model = ModelInfo("claude-opus-5-5", max_input_tokens=36_000)
    scenario = Scenario(turns=(DONE,), models=(model,), models_endpoint=False)
    settings = ("--settings", '{"autoCompactEnabled": false}')
    async with ScriptedServer(scenario) as server:
        env = environment(fresh_home, server.base_url, ANTHROPIC_MODEL=model.id)
        await run("-p", "hi " * 27_000, *settings, cwd=tmp_path, env=env)
        for _ in range(2):
            await run("-c", "-p", "hi " * 400, *settings, cwd=tmp_path, env=env)
        requests = server.requests
    assert [request.status for request in requests] == [400, 200, 200, 200]
    asked = [request.body["max_tokens"] for request in requests[1:]]
    assert asked == sorted(asked, reverse=True)


async def test_what_a_user_says_of_a_model_beats_what_an_earlier_run_learned(
    tmp_path: Path, fresh_home: Path
) -> None:
    refused = Status(400, message="max_tokens: 32000 > 8000, which is the maximum allowed")
    faults = (FaultPlan(refused, request=1),)
    scenario = Scenario(turns=(DONE,), models_endpoint=False, faults=faults)
    said = [{}, {"maxOutputTokens": 20_000}, {"thinking": "none"}]
    async with ScriptedServer(scenario) as server:
        env = environment(fresh_home, server.base_url, ANTHROPIC_MODEL="alias")
        await run("-p", "hi", cwd=tmp_path, env=env)
        for model in said:
            settings = json.dumps({"modelCapabilities": {"alias": model}})
            await run("-c", "-p", "go on", "--settings", settings, cwd=tmp_path, env=env)
        asked = [request.body["max_tokens"] for request in server.requests]
    assert asked == [32_000, 8_000, 8_000, 20_000, 8_000]


@pytest.mark.parametrize(
    "failing", [MISSING, ToolCall("no_such_tool", {"a": 1}), ToolCall("Read", {"path": "a"})]
)
async def test_the_same_failing_call_is_not_run_a_third_time(
    begin: Begin, failing: ToolCall
) -> None:
    journey = await begin([*[Turn((failing,))] * 4, DONE], has_person=False)
    events = await journey.send("go")
    texts = [result.text for result in results(events)]
    assert ["Not run: this very call has failed 2 times" in text for text in texts] == [
        False, False, True, True,
    ]  # fmt: skip
    assert terminal(events).reason == "completed"


async def test_a_call_in_words_is_named_to_the_user(begin: Begin) -> None:
    words = json.dumps({"name": "Read", "arguments": {"file_path": "a"}})
    journey = await begin([Turn((Text(f"<tool_call>{words}</tool_call>"),))])
    events = await journey.send("go")
    (notice,) = (e.text for e in events if isinstance(e, Notice) and "as text" in e.text)
    assert "a call of Read" in notice


def _commit_something(project: Path) -> None:
    (project / "a.txt").write_text("1")
    for arguments in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-qm", "first"]):
        subprocess.run(["git", *arguments], cwd=project, check=True)
