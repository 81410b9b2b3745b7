"""The library runs the agent as the program does: permissions, hooks and sessions included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agent import CodingAgent, CodingConfig, CodingTurnsExceeded
from agent.events import Terminal
from agent.library.program.callback_hooks import HookFunction
from agent.model.endpoint import ModelSetup
from agent.model.endpoint_config import Endpoint
from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from permissions.decision import Decision
from permissions.request import PermissionRequest

TOUCH = Turn((ToolCall("Bash", {"command": "touch made"}),))
DONE = Turn((Text("Done."),), times=0)


def config(server: ScriptedServer, directory: Path, home: Path) -> CodingConfig:
    return CodingConfig(
        directory=directory,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        setup=ModelSetup(
            endpoint=Endpoint(base_url=server.base_url, api_key="k"),
            model="claude-opus-5-5",
            small_model=None,
        ),
    )


async def test_a_run_returns_the_final_output_and_can_continue(
    tmp_path: Path, fresh_home: Path
) -> None:
    async with ScriptedServer(Scenario(turns=(DONE,))) as server:
        chosen = config(server, tmp_path, fresh_home)
        first = await CodingAgent(chosen).run("one")
        second = await CodingAgent(chosen).run("two", session=first.session_id)
    assert first.final_output == "Done."
    assert second.session_id == first.session_id
    assert "one" in str(second.to_input_list())


async def test_no_one_is_asked_unless_a_function_answers(tmp_path: Path, fresh_home: Path) -> None:
    asked: list[str] = []

    async def approve(request: PermissionRequest, _pending: Decision) -> bool:
        asked.append(str(request.tool_input["command"]))
        return True

    async with ScriptedServer(Scenario(turns=(TOUCH, DONE))) as server:
        await CodingAgent(config(server, tmp_path, fresh_home)).run("go")
        assert not (tmp_path / "made").exists()
    async with ScriptedServer(Scenario(turns=(TOUCH, DONE))) as server:
        await CodingAgent(config(server, tmp_path, fresh_home), approve=approve).run("go")
    assert asked == ["touch made"]
    assert (tmp_path / "made").exists()


async def test_a_python_function_is_a_hook_like_any_other(tmp_path: Path, fresh_home: Path) -> None:
    seen: list[object] = []

    async def guard(payload: Mapping[str, object]) -> Mapping[str, object]:
        seen.append(payload["tool_name"])
        return {"decision": "block", "reason": "not today"}

    async with ScriptedServer(Scenario(turns=(TOUCH, DONE))) as server:
        chosen = config(server, tmp_path, fresh_home)
        result = await CodingAgent(chosen, allow=["Bash"], hooks={"PreToolUse": [guard]}).run("go")
    assert seen == ["Bash"]
    assert "not today" in str(result.to_input_list())
    assert not (tmp_path / "made").exists()


async def _return_text(_payload: Mapping[str, object]) -> Any:
    return "fine by me"


async def _raise(_payload: Mapping[str, object]) -> Mapping[str, object]:
    raise ConnectionError("the policy server is away")


@pytest.mark.parametrize("guard", [_raise, _return_text])
async def test_a_call_does_not_run_when_the_function_that_guards_it_fails(
    guard: HookFunction, tmp_path: Path, fresh_home: Path
) -> None:
    async with ScriptedServer(Scenario(turns=(TOUCH, DONE))) as server:
        chosen = config(server, tmp_path, fresh_home)
        result = await CodingAgent(chosen, allow=["Bash"], hooks={"PreToolUse": [guard]}).run("go")
    assert not (tmp_path / "made").exists()
    reason = str(result.to_input_list())
    assert reason.count(guard.__qualname__) == 1
    assert "failed: " in reason
    assert result.final_output == "Done."


async def test_the_turn_limit_raises_with_the_unfinished_result(
    tmp_path: Path, fresh_home: Path
) -> None:
    looking = Turn((ToolCall("Glob", {"pattern": "*"}),), times=0)
    async with ScriptedServer(Scenario(turns=(looking,))) as server:
        chosen = config(server, tmp_path, fresh_home)
        with pytest.raises(CodingTurnsExceeded) as raised:
            await CodingAgent(chosen, max_turns=2).run("look")
        handled = await CodingAgent(
            chosen, max_turns=2, on_max_turns=lambda result: f"{result.turns} were enough"
        ).run("look")
    assert raised.value.result.turns == 2
    assert handled.final_output == "2 were enough"


async def test_events_can_be_streamed(tmp_path: Path, fresh_home: Path) -> None:
    async with ScriptedServer(Scenario(turns=(DONE,))) as server:
        run = CodingAgent(config(server, tmp_path, fresh_home)).run_streamed("hi")
        events = [event async for event in run.stream_events()]
    assert isinstance(events[-1], Terminal)
    assert run.result is not None
    assert run.result.final_output == "Done."
