"""Tools that the endpoint runs itself, and code there that calls ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.scenario import ModelInfo, RawBlock, Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment, run

MODEL = "a-model-of-the-house"
CODE = {"type": "code_execution_20260120", "tool_id": "srvtoolu_1"}
RUN = RawBlock(
    {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "code_execution",
        "input": {"code": "print(await Bash({'command': 'echo inner'}))"},
    }
)
RAN = RawBlock(
    {
        "type": "code_execution_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "code_execution_result", "stdout": "inner", "return_code": 0},
    }
)


def called(name: str, call_id: str, **given: str) -> RawBlock:
    return RawBlock(
        {"type": "tool_use", "id": call_id, "name": name, "input": given, "caller": CODE}
    )


def house(*served: str) -> tuple[ModelInfo, ...]:
    return (ModelInfo(MODEL, served=served or ("code_execution", "programmatic_tool_calling")),)


async def go(
    project: Path, home: Path, server: ScriptedServer, settings: dict[str, Any], *more: str
) -> tuple[list[dict[str, Any]], str]:
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text(json.dumps(settings))
    arguments = ("-p", "go", "--model", MODEL, "--output-format", "stream-json", "--verbose")
    env = environment(home, server.base_url)
    _, out, err = await run(*arguments, *more, cwd=project, env=env)
    assert [each.problem for each in server.requests] == [""] * len(server.requests), err
    return [json.loads(line) for line in out.splitlines()], err


async def test_code_calls_our_tools_with_our_permissions(project: Path, fresh_home: Path) -> None:
    (project / "a.txt").write_text("x\n")
    turns = (
        Turn((Text("I run code."), RUN, called("Read", "toolu_1", file_path="a.txt"))),
        Turn((called("Bash", "toolu_2", command="touch made.txt"),)),
        Turn((RAN, Text("Done."), ToolCall("Read", {"file_path": "a.txt"}))),
        Turn((Text("All done."),)),
    )
    context = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Noted"}}
    hook = {"type": "command", "command": f"echo '{json.dumps(context)}'"}
    settings = {
        "serverTools": ["programmatic_tool_calling"],
        "hooks": {"PostToolUse": [{"matcher": "Read", "hooks": [hook]}]},
    }
    async with ScriptedServer(Scenario(turns=turns, models=house())) as server:
        lines, _ = await go(project, fresh_home, server, settings)
    first, second, third, fourth = (each.body for each in server.requests)
    tools = {tool["name"]: tool for tool in first["tools"]}
    assert tools["Read"]["allowed_callers"] == ["direct", "code_execution_20260120"]
    assert "strict" not in tools["Read"]
    assert "container" not in first
    assert second["container"] == third["container"] == "container_scripted"
    assert "container" not in fourth
    # Nobody is there to ask: the inner call is refused like any other.
    assert not (project / "made.txt").exists()
    assert third["messages"][-1]["content"][0]["is_error"]
    # What a hook adds waits until the code has ended.
    assert "Noted" not in json.dumps(third["messages"])
    assert "Noted" in json.dumps(fourth["messages"][-1])
    assert lines[-1]["result"] == "All done."
    assert "_origin" not in json.dumps([each.body for each in server.requests])


async def test_code_that_is_interrupted_leaves_a_valid_history(
    project: Path, fresh_home: Path
) -> None:
    turns = (
        Turn((RUN, called("Read", "toolu_1", file_path="a.txt"))),
        Turn((called("Read", "toolu_2", file_path="a.txt"),)),
        Turn((Text("Again."),)),
    )
    settings = {"serverTools": ["programmatic_tool_calling"]}
    async with ScriptedServer(Scenario(turns=turns, models=house())) as server:
        await go(project, fresh_home, server, settings, "--max-turns", "1")
        env = environment(fresh_home, server.base_url)
        more = ("-c", "-p", "again", "--model", MODEL, "--output-format", "json")
        _, out, err = await run(*more, cwd=project, env=env)
    assert json.loads(out)["result"] == "Again.", err
    resumed = server.requests[-1]
    assert resumed.problem == ""
    assert "caller" not in json.dumps(resumed.body["messages"])


async def test_what_ran_at_the_endpoint_is_shown_and_priced(
    project: Path, fresh_home: Path
) -> None:
    call = {"type": "server_tool_use", "id": "srvtoolu_2", "name": "web_search"}
    hit = {"type": "web_search_result", "title": "Tabs", "url": "https://e.org", "page_age": None}
    hits = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_2", "content": [hit]}
    usage = {"server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0}}
    blocks = (RawBlock({**call, "input": {"query": "tabs"}}), RawBlock(hits), Text("Found."))
    models = house("web_search")
    settings = {"serverTools": ["web_search", "web_fetch"], "prices": {MODEL: FREE}}
    turns = (Turn(blocks, usage=usage),)
    async with ScriptedServer(Scenario(turns=turns, models=models)) as server:
        lines, err = await go(project, fresh_home, server, settings)
    offered = [tool for tool in server.requests[0].body["tools"] if "type" in tool]
    assert [tool["name"] for tool in offered] == ["web_search"]
    assert lines[-1]["total_cost_usd"] == pytest.approx(0.03)
    assert lines[-1]["modelUsage"][MODEL]["webSearchRequests"] == 3
    assert "no web_fetch of its own" in err + json.dumps(lines)


async def test_a_denied_tool_is_not_offered_and_a_project_offers_none(
    project: Path, fresh_home: Path
) -> None:
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"serverTools": ["code_execution"]}')
    settings = {"serverTools": ["web_search"], "permissions": {"deny": ["WebSearch"]}}
    models = house("web_search", "code_execution")
    async with ScriptedServer(Scenario(turns=(Turn((Text("Hi."),)),), models=models)) as server:
        await go(project, fresh_home, server, settings, "--trust")
    assert not [tool for tool in server.requests[0].body["tools"] if "type" in tool]


FREE = {"input": 0.0, "output": 0.0}
