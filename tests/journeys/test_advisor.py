"""The advisor: consulted by a call, whoever answers, so often in a prompt, at its own price."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agent.model.scripted.faults import Status
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    RawBlock,
    Scenario,
    Text,
    ToolCall,
    Turn,
    When,
)
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment, run

ADVICE = Turn((Text("Read the log first."),), when=When(model="claude-opus-5-5"), times=0)
ASK = ToolCall("Advisor", {})
SAID = Turn((Text("It said: ${result}"),), when=When(result="any", model="haiku|gpt"))


async def ask(
    project: Path, home: Path, server: ScriptedServer, *arguments: str, **env: str
) -> dict[str, Any]:
    environ = environment(home, server.base_url, **env)
    given = ("-p", "go", "--output-format", "json", *arguments)
    status, out, err = await run(*given, cwd=project, env=environ)
    assert status == 0, err
    result: dict[str, Any] = json.loads(out)
    return result


async def test_the_advice_is_a_result_with_a_price_of_its_own(
    project: Path, fresh_home: Path
) -> None:
    turns = (Turn((Text("Hm."), ASK), when=When(model="haiku", result="none")), SAID, ADVICE)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        result = await ask(
            project, fresh_home, server, "--model", "claude-haiku-5-5", "--advisor", "opus"
        )
    assert "Read the log first." in result["result"]
    assert "2 of 3 consultations" in result["result"]
    used = result["modelUsage"]
    assert used["claude-opus-5-5"]["costUSD"] > 0
    consulted = server.requests[1].body
    assert "tools" not in consulted
    assert "[user] go" in json.dumps(consulted["messages"])
    assert [each.problem for each in server.requests] == ["", "", ""]


async def test_it_advises_another_provider(project: Path, fresh_home: Path) -> None:
    turns = (Turn((ASK,), when=When(model="gpt", result="none")), SAID, ADVICE)
    async with ScriptedServer(Scenario(turns=turns)) as server:
        (fresh_home / ".agent").mkdir()
        openai = {"baseUrl": server.base_url, "keyVariable": "WORK_KEY"}
        settings = {"providers": {"openai": openai}, "advisorModel": "opus"}
        (fresh_home / ".agent" / "settings.json").write_text(json.dumps(settings))
        result = await ask(project, fresh_home, server, "--model", "openai/gpt-5", WORK_KEY="key")
    assert "Read the log first." in result["result"]
    assert [each.path for each in server.requests] == [
        "/v1/responses",
        "/v1/messages",
        "/v1/responses",
    ]


async def test_no_more_often_than_allowed(project: Path, fresh_home: Path) -> None:
    again = Turn((ASK, ASK, ASK, ASK), when=When(model="haiku", result="none"))
    async with ScriptedServer(Scenario(turns=(again, SAID, ADVICE))) as server:
        result = await ask(
            project, fresh_home, server, "--model", "claude-haiku-5-5", "--advisor", "opus"
        )
    assert "max_uses_exceeded" in result["result"]
    assert sum(each.body["model"] == "claude-opus-5-5" for each in server.requests) == 3


async def test_an_advisor_that_fails_ends_nothing(project: Path, fresh_home: Path) -> None:
    turns = (Turn((ASK,), when=When(model="haiku", result="none")), SAID)
    fault = FaultPlan(Status(529), when=When(model="opus"), times=0)
    async with ScriptedServer(Scenario(turns=turns, faults=(fault,))) as server:
        result = await ask(
            project, fresh_home, server, "--model", "claude-haiku-5-5", "--advisor", "opus"
        )
    assert "The advisor could not be asked" in result["result"]


async def test_without_an_advisor_there_is_no_such_tool(project: Path, fresh_home: Path) -> None:
    async with ScriptedServer(Scenario(turns=(Turn((Text("Hi."),)),))) as server:
        await ask(project, fresh_home, server, "--model", "claude-haiku-5-5")
    assert "Advisor" not in json.dumps(server.requests[0].body["tools"])


async def test_the_endpoints_own_advisor_where_there_is_one(
    project: Path, fresh_home: Path
) -> None:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "advisor", "input": {}}
    said = {"type": "advisor_result", "text": "Read the log first."}
    result = {"type": "advisor_tool_result", "tool_use_id": "srvtoolu_1", "content": said}
    spent = {
        "type": "advisor_message",
        "model": "claude-opus-5-5",
        "input_tokens": 5000,
        "output_tokens": 600,
    }
    turns = (
        Turn(
            (RawBlock(call), RawBlock(result), ToolCall("Bash", {"command": "echo log"})),
            usage={"iterations": [{"type": "message"}, spent]},
        ),
        Turn((Text("Done."),)),
    )
    models = (ModelInfo("a-model-of-the-house", advises=True), ModelInfo("claude-opus-5-5"))
    async with ScriptedServer(Scenario(turns=turns, models=models)) as server:
        answer = await ask(
            project, fresh_home, server, "--model", "a-model-of-the-house", "--advisor", "opus"
        )
    offered = server.requests[0].body["tools"][-1]
    assert offered == {
        "type": "advisor_20260301",
        "name": "advisor",
        "model": "claude-opus-5-5",
        "max_uses": 3,
    }
    assert "an irreversible step" in json.dumps(server.requests[0].body["messages"])
    assert "advisor-tool-2026-03-01" in server.requests[1].headers["anthropic-beta"]
    assert [each.problem for each in server.requests] == ["", ""]
    assert answer["modelUsage"]["claude-opus-5-5"]["outputTokens"] == 600
    kinds = [block["type"] for block in server.requests[1].body["messages"][1]["content"]]
    assert kinds == ["server_tool_use", "advisor_tool_result", "tool_use"]


async def test_the_endpoints_own_advisor_is_asked_no_more_often(
    project: Path, fresh_home: Path
) -> None:
    def consulted(number: int) -> Turn:
        call_id = f"srvtoolu_{number}"
        call = {"type": "server_tool_use", "id": call_id, "name": "advisor", "input": {}}
        said = {"type": "advisor_result", "text": "Go on."}
        result = {"type": "advisor_tool_result", "tool_use_id": call_id, "content": said}
        read = ToolCall("Read", {"file_path": "a"})
        return Turn((RawBlock(call), RawBlock(result), read))

    turns = (*(consulted(number) for number in range(2)), Turn((Text("Done."),)))
    models = (ModelInfo("a-model-of-the-house", advises=True), ModelInfo("claude-opus-5-5"))
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text('{"advisorMaxUses": 2}')
    async with ScriptedServer(Scenario(turns=turns, models=models)) as server:
        await ask(
            project, fresh_home, server, "--model", "a-model-of-the-house", "--advisor", "opus"
        )
    offered = [
        [tool["max_uses"] for tool in each.body["tools"] if tool["name"] == "advisor"]
        for each in server.requests
    ]
    assert offered == [[2], [1], []]
    assert [each.problem for each in server.requests] == ["", "", ""]
