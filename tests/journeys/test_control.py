"""A program at the other end of a stream-json run: it introduces itself, is asked, interrupts."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.model.scripted.faults import Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import HELLO, Headless
from tests.journeys.forked_program import ForkedProgram, fork_program
from tests.journeys.program import environment, run

STREAM = ("--input-format", "stream-json", "--output-format", "stream-json")
TOUCH = Turn((ToolCall("Bash", {"command": "touch made"}),))


class Program:
    """The calling program's side."""

    def __init__(self, process: ForkedProgram) -> None:
        assert process.stdin is not None
        self.process, self._in, self._out = process, process.stdin, process.stdout

    def say(self, line: object) -> None:
        self._in.write(json.dumps(line).encode() + b"\n")

    def prompt(self, text: str, **more: str) -> None:
        self.say({"type": "user", "message": {"role": "user", "content": text}, **more})

    def request(self, request_id: str, **request: Any) -> None:
        self.say({"type": "control_request", "request_id": request_id, "request": request})

    def answer(self, asked: dict[str, Any], response: object) -> None:
        inner = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        self.say({"type": "control_response", "response": inner})

    def fail(self, asked: dict[str, Any], error: str) -> None:
        inner = {"subtype": "error", "request_id": asked["request_id"], "error": error}
        self.say({"type": "control_response", "response": inner})

    async def until(self, kind: str) -> dict[str, Any]:
        """Read on to the next line of a type."""
        async for raw in self._out:
            line: dict[str, Any] = json.loads(raw)
            if line["type"] == kind:
                return line
        raise AssertionError(f"no {kind} line came")

    async def line(self) -> dict[str, Any]:
        """Read the next line, of whatever type."""
        line: dict[str, Any] = json.loads(await self._out.readline())
        return line

    async def end(self) -> int:
        self._in.close()
        return await self.process.wait()


@asynccontextmanager
async def program(
    server: ScriptedServer, project: Path, home: Path, *flags: str
) -> AsyncIterator[Program]:
    env = environment(home, server.base_url)
    process = await fork_program([*STREAM, *flags], project, env, stdin=True)
    try:
        yield Program(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_it_answers_for_the_user_and_changes_the_call(
    project: Path, fresh_home: Path
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.request("1", subtype="initialize", hooks=None)
        caller.request("2", subtype="make_coffee")
        introduced = (await caller.until("control_response"))["response"]
        assert (introduced["request_id"], introduced["subtype"]) == ("1", "success")
        assert {"name", "description"} <= set(introduced["response"]["commands"][0])
        refused = (await caller.until("control_response"))["response"]
        assert (refused["request_id"], refused["subtype"]) == ("2", "error")
        assert "make_coffee" in refused["error"]
        caller.prompt("make it")
        asked = await caller.until("control_request")
        assert asked["request"]["subtype"] == "can_use_tool"
        assert asked["request"]["tool_name"] == "Bash"
        assert asked["request"]["input"] == {"command": "touch made"}
        caller.answer(asked, {"behavior": "allow", "updatedInput": {"command": "touch other"}})
        result = await caller.until("result")
        assert (result["subtype"], result["permission_denials"]) == ("success", [])
        assert await caller.end() == 0
    assert [path.name for path in project.iterdir()] == ["other"]


QUESTION = {
    "question": "Which color?",
    "header": "Color",
    "options": [{"label": "red"}, {"label": "blue"}],
    "multiSelect": True,
}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"answers": {"Which color?": "green"}}, "Which color?\n→ green"),
        ({"answers": {"Which color?": ["red", "blue"]}}, "Which color?\n→ red, blue"),
        ({}, "declined to answer"),
        ({"answers": 5}, "declined to answer"),
        (None, "not now"),
    ],
    ids=["own-words", "several", "none", "unusable", "declined"],
)
async def test_it_answers_questions_of_the_model(
    project: Path, fresh_home: Path, answer: dict[str, Any] | None, told: str
) -> None:
    asks = Turn((ToolCall("AskUserQuestion", {"questions": [QUESTION]}),))
    async with (
        ScriptedServer(Scenario(turns=(asks, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.prompt("paint it")
        asked = await caller.until("control_request")
        assert asked["request"]["subtype"] == "can_use_tool"
        assert asked["request"]["tool_name"] == "AskUserQuestion"
        sent = asked["request"]["input"]
        assert sent["questions"][0]["question"] == "Which color?"
        if answer is None:
            caller.answer(asked, {"behavior": "deny", "message": "not now"})
        else:
            caller.answer(asked, {"behavior": "allow", "updatedInput": {**sent, **answer}})
        result = await caller.until("user")
        assert told in result["message"]["content"][0]["content"]
        assert (await caller.until("result"))["subtype"] == "success"


async def test_nobody_is_asked_where_the_program_does_not_answer(hello: Headless) -> None:
    await hello.run("-p", "hi")
    names = [tool["name"] for tool in hello.server.requests[-1].body["tools"]]
    assert "AskUserQuestion" not in names


async def test_a_signal_ends_the_wait_for_servers(project: Path, fresh_home: Path) -> None:
    silent = {"mcpServers": {"silent": {"command": "sleep", "args": ["600"]}}}
    async with (
        ScriptedServer(Scenario(turns=(HELLO,))) as server,
        program(server, project, fresh_home, "--mcp-config", json.dumps(silent)) as caller,
    ):
        caller.request("1", subtype="initialize", hooks=None)
        caller.request("2", subtype="get_context_usage")
        for _ in range(2):
            await caller.until("control_response")
        caller.process.send_signal(signal.SIGTERM)
        assert await caller.process.stdout.read() == b""  # nothing began
        assert await caller.process.wait() == 143


async def test_the_status_for_a_library_is_that_of_the_last_prompt(
    project: Path, fresh_home: Path
) -> None:
    failed = Turn((), fault=Status(400, message="no such thing"))
    async with (
        ScriptedServer(Scenario(turns=(failed, HELLO))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.request("1", subtype="initialize", hooks=None)
        caller.prompt("one")
        assert (await caller.until("result"))["is_error"] is True
        caller.prompt("two")
        assert (await caller.until("result"))["is_error"] is False
        assert await caller.end() == 0


async def test_it_is_asked_during_a_prompt_of_the_command_line_as_well(
    project: Path, fresh_home: Path
) -> None:
    flags = ("--permission-prompt-tool", "stdio", "make it")
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, *flags) as caller,
    ):
        asked = await caller.until("control_request")
        caller.answer(asked, {"behavior": "allow"})
        assert (await caller.until("result"))["permission_denials"] == []
        assert await caller.end() == 0
    assert (project / "made").exists()


async def test_a_permission_callback_that_raises_denies_and_the_denial_says_what_to_correct(
    project: Path, fresh_home: Path
) -> None:
    flags = ("--permission-prompt-tool", "stdio", "make it")
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, *flags) as caller,
    ):
        asked = await caller.until("control_request")
        caller.fail(asked, "KeyError: 'tool_nam'")
        denials = (await caller.until("result"))["permission_denials"]
        assert await caller.end() == 3
    assert [denial["tool_name"] for denial in denials] == ["Bash"]
    assert not (project / "made").exists()
    told = str(server.requests[-1].body["messages"][-1])
    assert "the calling program's permission callback failed: KeyError: " in told
    assert "Correct what failed, or allow the call with a rule." in told
    assert "dialog" not in told


async def test_rules_it_adds_are_remembered_and_other_restrictions_deny_the_call(
    project: Path, fresh_home: Path
) -> None:
    again = Turn((ToolCall("Bash", {"command": "touch again"}),))
    other = Turn((ToolCall("Bash", {"command": "mkdir other"}),))
    rule = {"toolName": "Bash", "ruleContent": "touch *"}
    add = {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "session"}
    wider = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
    narrower = {**wider, "mode": "plan"}
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, again, other, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.prompt("make it")
        asked = await caller.until("control_request")
        caller.answer(asked, {"behavior": "allow", "updatedPermissions": [add, wider]})
        asked = await caller.until("control_request")
        assert asked["request"]["input"] == {"command": "mkdir other"}
        caller.answer(asked, {"behavior": "allow", "updatedPermissions": [narrower]})
        assert len((await caller.until("result"))["permission_denials"]) == 1
        assert await caller.end() == 3
    assert sorted(path.name for path in project.iterdir()) == ["again", "made"]


async def test_it_is_offered_the_rules_that_a_dialog_would_offer(
    project: Path, fresh_home: Path
) -> None:
    again = Turn((ToolCall("Bash", {"command": "touch made"}),))
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, again, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.prompt("make it")
        asked = await caller.until("control_request")
        offered = asked["request"]["permission_suggestions"]
        rule = {"toolName": "Bash", "ruleContent": "touch made"}
        assert [each["destination"] for each in offered] == ["session", "localSettings"]
        assert [each["rules"] for each in offered] == [[rule], [rule]]
        # A program whose user says "always" returns all of them: the narrowest place counts.
        caller.answer(asked, {"behavior": "allow", "updatedPermissions": offered})
        assert (await caller.until("result"))["permission_denials"] == []
        assert await caller.end() == 0
    assert [path.name for path in project.iterdir()] == ["made"]


@pytest.mark.parametrize("approves", [True, False])
async def test_it_decides_about_a_plan(project: Path, fresh_home: Path, approves: bool) -> None:
    plan = Turn((ToolCall("ExitPlanMode", {"plan": "Write it."}),))
    write = Turn((ToolCall("Write", {"file_path": "made", "content": "x"}),))
    flags = ("--permission-prompt-tool", "stdio", "--permission-mode", "plan")
    async with (
        ScriptedServer(Scenario(turns=(plan, write, HELLO))) as server,
        program(server, project, fresh_home, *flags) as caller,
    ):
        caller.prompt("make it")
        asked = await caller.until("control_request")
        assert asked["request"]["tool_name"] == "ExitPlanMode"
        assert asked["request"]["input"] == {"plan": "Write it."}
        assert asked["request"]["tool_use_id"]
        # Without suggestions the program says itself in which mode to continue.
        assert "permission_suggestions" not in asked["request"]
        mode = {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
        yes = {"behavior": "allow", "updatedInput": {}, "updatedPermissions": [mode]}
        caller.answer(asked, yes if approves else {"behavior": "deny", "message": "not yet"})
        result = await caller.until("result")
        assert len(result["permission_denials"]) == (0 if approves else 1)
        await caller.end()
    assert (project / "made").exists() is approves
    told = json.dumps(server.requests[1].body["messages"][-1])
    assert ("approved the plan" if approves else "not yet") in told


async def test_a_plan_that_it_interrupts_ends_the_turn(project: Path, fresh_home: Path) -> None:
    plan = Turn((ToolCall("ExitPlanMode", {"plan": "Write it."}),))
    flags = ("--permission-prompt-tool", "stdio", "--permission-mode", "plan")
    async with (
        ScriptedServer(Scenario(turns=(plan, HELLO))) as server,
        program(server, project, fresh_home, *flags) as caller,
    ):
        caller.prompt("make it")
        asked = await caller.until("control_request")
        caller.answer(asked, {"behavior": "deny", "message": "stop", "interrupt": True})
        result = await caller.until("result")
        assert (result["subtype"], result["num_turns"]) == ("error_during_execution", 1)
        await caller.end()
    assert len(server.requests) == 1


async def test_an_answer_that_is_none_is_named_in_a_sentence(
    project: Path, fresh_home: Path
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        hooks = {"PreToolUse": [{"hookCallbackIds": ["h1"], "onFailure": "ignore"}]}
        caller.request("1", subtype="initialize", hooks=hooks)
        caller.prompt("make it")
        caller.answer(await caller.until("control_request"), ["no object"])
        caller.answer(await caller.until("control_request"), {"behavior": "perhaps"})
        (denial,) = (await caller.until("result"))["permission_denials"]
        assert '(the calling program answered neither "allow" nor "deny")' in denial["reason"]
        await caller.end()
        err = (await caller.process.stderr.read()).decode()
    assert ": the calling program did not answer with an object" in err
    assert "NoAnswer" not in err


async def test_an_error_of_a_callback_is_part_of_a_sentence(
    project: Path, fresh_home: Path
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(HELLO,))) as server,
        program(server, project, fresh_home) as caller,
    ):
        hooks = {"UserPromptSubmit": [{"hookCallbackIds": ["h1", "h2"]}]}
        caller.request("1", subtype="initialize", hooks=hooks)
        caller.prompt("go")
        for error in ("'tool_nam'", ""):
            asked = await caller.until("control_request")
            answer = {"subtype": "error", "request_id": asked["request_id"], "error": error}
            caller.say({"type": "control_response", "response": answer})
        await caller.until("result")
        await caller.end()
        err = (await caller.process.stderr.read()).decode()
    assert "the calling program answered with an error: 'tool_nam'" in err
    assert "the calling program answered with an error: it has no text" in err


async def test_it_asks_for_a_title_and_may_have_the_session_named(
    project: Path, fresh_home: Path
) -> None:
    name = Turn((Text("Fix the login"),), when=When(system="You name"), times=0)
    async with (
        ScriptedServer(Scenario(turns=(name, HELLO))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.request("1", subtype="initialize", hooks=None)
        await caller.until("control_response")
        caller.prompt("hello")
        session_id = (await caller.until("result"))["session_id"]
        for number, persist in (("2", None), ("3", True)):
            wish = {"description": "the login fails", "persist": persist}
            caller.request(number, subtype="generate_session_title", **wish)
            response = (await caller.until("control_response"))["response"]["response"]
            assert response == {"title": "Fix the login"}
        caller.request("4", subtype="generate_session_title")
        assert (await caller.until("control_response"))["response"]["subtype"] == "error"
        await caller.end()
    env = environment(fresh_home, server.base_url)
    _, out, _ = await run("sessions", "list", "--json", cwd=project, env=env)
    assert [(row["id"], row["title"]) for row in json.loads(out)] == [(session_id, "Fix the login")]


async def test_it_asks_for_the_use_of_the_window_and_for_the_first_model(
    project: Path, fresh_home: Path
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(HELLO,))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.request("1", subtype="initialize", hooks=None)
        agents = (await caller.until("control_response"))["response"]["response"]["agents"]
        assert "general-purpose" in [agent["name"] for agent in agents]
        caller.request("2", subtype="get_context_usage")
        found = (await caller.until("control_response"))["response"]["response"]
        parts = found["categories"]
        assert sum(part["tokens"] for part in parts) == found["maxTokens"]
        used = [part["tokens"] for part in parts if part["kind"] == "used"]
        assert sum(used) == found["totalTokens"] > 0
        caller.request("3", subtype="set_model", model="claude-haiku-5-5")
        caller.request("4", subtype="set_max_thinking_tokens", max_thinking_tokens="many")
        caller.request("5", subtype="set_max_thinking_tokens", max_thinking_tokens=0)
        for request_id in ("3", "4", "5"):
            response = (await caller.until("control_response"))["response"]
            expected = "error" if request_id == "4" else "success"
            assert response["subtype"] == expected, response
        caller.prompt("hello")
        await caller.until("result")
        caller.request("6", subtype="set_model", model=None)
        assert (await caller.until("control_response"))["response"]["subtype"] == "success"
        caller.prompt("hello")
        await caller.until("result")
        assert await caller.end() == 0
    models = [request.body["model"] for request in server.requests]
    assert models == ["claude-haiku-5-5", "claude-opus-5-5"]
    assert server.requests[0].body["thinking"]["type"] == "disabled"


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ({"hooks": ["PreToolUse"]}, "hooks: "),
        ({"hooks": {"Nonsense": []}}, "hooks: there is no event 'Nonsense'"),
        ({"hooks": {"PreToolUse": {"matcher": "Bash"}}}, "hooks: PreToolUse: "),
        ({"hooks": {"PreToolUse": ["h1"]}}, "hooks: PreToolUse: "),
        ({"hooks": {"PreToolUse": [{"hookCallbackIds": "h1"}]}}, "hookCallbackIds: "),
        ({"hooks": {"PreToolUse": [{"matcher": 5}]}}, "matcher: "),
        (
            {"hooks": {"PreToolUse": [{"hookCallbackIds": ["h1"], "onFailure": "maybe"}]}},
            "onFailure: ",
        ),
        ({"hooks": {"PreToolUse": [{"matcher": "(", "hookCallbackIds": ["h1"]}]}}, "matcher: "),
        ({"agents": {"reviewer": {"description": "d"}}}, "agents: reviewer has no prompt"),
        (
            {"agents": {"a": {"description": "d", "prompt": "p", "permissionMode": "loose"}}},
            "agents: a: permissionMode is 'loose'",
        ),
        ({"aGuardOfTheFuture": True}, "aGuardOfTheFuture"),
        ({"systemPrompt": 5}, "systemPrompt: "),
    ],
    ids=str,
)
async def test_what_an_introduction_asks_for_in_vain_ends_the_run(
    project: Path, fresh_home: Path, request_: dict[str, Any], says: str
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "Bash") as caller,
    ):
        caller.request("1", subtype="initialize", **request_)
        caller.prompt("make it")  # sent by libraries that do not wait for the answer
        answer = (await caller.until("control_response"))["response"]
        assert says in answer["error"]
        result = await caller.until("result")
        assert (result["is_error"], result["subtype"]) == (True, "error_during_execution")
        assert says in result["errors"][0]
        assert await caller.process.wait() == 2
    assert server.requests == []
    assert list(project.iterdir()) == []


async def test_hooks_that_settings_switch_off_end_the_run(project: Path, fresh_home: Path) -> None:
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text('{"disableAllHooks": true}')
    hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h1"]}]}
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "Bash") as caller,
    ):
        caller.request("1", subtype="initialize", hooks=hooks)
        caller.prompt("make it")
        assert "disableAllHooks" in (await caller.until("result"))["errors"][0]
        assert await caller.process.wait() == 2
    assert server.requests == []


async def test_hooks_that_come_late_count_and_a_second_introduction_ends_the_run(
    project: Path, fresh_home: Path
) -> None:
    hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h1"]}]}
    async with (
        ScriptedServer(Scenario(turns=(HELLO,))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.prompt("hello")
        assert (await caller.until("result"))["result"] == "Hello there."
        for expected in ("success", "error"):
            caller.request("1", subtype="initialize", hooks=hooks)
            answer = (await caller.until("control_response"))["response"]
            assert answer["subtype"] == expected
        assert "already" in (await caller.until("result"))["errors"][0]
        assert await caller.process.wait() == 2


async def test_a_guard_of_the_program_that_fails_denies(project: Path, fresh_home: Path) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "Bash") as caller,
    ):
        hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h1"]}]}
        caller.request("1", subtype="initialize", hooks=hooks)
        caller.prompt("make it")
        asked = await caller.until("control_request")
        caller.fail(asked, "guard.toml is missing")
        (denial,) = (await caller.until("result"))["permission_denials"]
        assert "guard.toml is missing" in denial["reason"]
        assert denial["reason"].count("h1") == 1
        assert await caller.end() == 0
    assert "guard.toml is missing" in json.dumps(server.requests[1].body["messages"][-1])
    assert not (project / "made").exists()


async def test_an_introduction_sets_the_system_prompt(project: Path, fresh_home: Path) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "Bash") as caller,
    ):
        hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h1"]}]}
        caller.request("1", subtype="initialize", hooks=hooks, systemPrompt=["You are a teapot."])
        assert (await caller.until("control_response"))["response"]["subtype"] == "success"
        caller.prompt("make it")
        init = await caller.until("system")
        assert init["mcp_servers"] == []
        assert init["claude_code_version"] >= "2."
        asked = await caller.until("control_request")
        decision = {"permissionDecision": "deny", "permissionDecisionReason": "no way"}
        answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}
        caller.answer(asked, answer)
        await caller.until("result")
        assert await caller.end() == 0
    assert server.requests[0].body["system"][0]["text"] == "You are a teapot."
    assert not (project / "made").exists()


def served(message: dict[str, Any]) -> dict[str, Any]:
    """What a server inside the calling program answers."""
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": message.get("params", {}).get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "calc", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": [{"type": "text", "text": "it is 5"}]},
    }
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": results.get(message["method"], {})}


@pytest.mark.parametrize("by_introduction", [True, False])
async def test_tools_of_the_calling_program_are_called_there(
    project: Path, fresh_home: Path, by_introduction: bool
) -> None:
    config = '{"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}}'
    flags = [] if by_introduction else ["--mcp-config", config]
    call = Turn((ToolCall("mcp__calc__add", {"a": 2, "b": 3}),))
    async with (
        ScriptedServer(Scenario(turns=(call, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "mcp__calc", *flags) as caller,
    ):
        inside = {"sdkMcpServers": ["calc"]} if by_introduction else {}
        caller.request("1", subtype="initialize", hooks={}, **inside)
        caller.prompt("add")
        called = []
        while (line := await caller.line())["type"] != "result":
            if line["type"] == "system":
                assert line["mcp_servers"] == [{"name": "calc", "status": "connected"}]
            request = line.get("request", {})
            if request.get("subtype") == "mcp_message":
                assert request["server_name"] == "calc"
                called.append(request["message"]["method"])
                caller.answer(line, {"mcp_response": served(request["message"])})
        assert called[-1] == "tools/call"
        caller.request("2", subtype="mcp_status")
        answer = (await caller.until("control_response"))["response"]["response"]
        assert answer == {"mcpServers": [{"name": "calc", "status": "connected"}]}
        assert await caller.end() == 0
    assert "it is 5" in str(server.requests[1].body["messages"])


async def test_a_run_ends_when_no_one_reads_its_answers(project: Path, fresh_home: Path) -> None:
    reading, writing = os.pipe()
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tui.cli", *STREAM,
            cwd=project,
            env=environment(fresh_home, server.base_url),
            stdin=subprocess.PIPE,
            stdout=writing,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        os.close(writing)
        assert process.stdin is not None
        process.stdin.write(b'{"type":"keep_alive"}\n')
        await asyncio.to_thread(os.read, reading, 1)  # it has begun
        os.close(reading)
        # Nothing comes, and nothing has to be written, for it to notice.
        assert await process.wait() == 141
        await process.communicate()


async def test_its_no_is_reported_to_the_model(project: Path, fresh_home: Path) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.prompt("make it")
        asked = await caller.until("control_request")
        caller.answer(asked, {"behavior": "deny", "message": "not on Fridays"})
        assert (await caller.until("result"))["result"] == "Hello there."
        assert await caller.end() == 0
    assert "not on Fridays" in str(server.requests[-1].body["messages"][-1])


async def test_a_caller_that_goes_leaves_the_call_denied(project: Path, fresh_home: Path) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--permission-prompt-tool", "stdio") as caller,
    ):
        caller.prompt("make it")
        await caller.until("control_request")
        assert await caller.end() == 3
    assert not (project / "made").exists()


async def test_a_caller_that_reads_no_more_leaves_the_call_denied_and_ends_the_run(
    project: Path, fresh_home: Path
) -> None:
    reading, writing = os.pipe()
    async with ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server:
        env = environment(fresh_home, server.base_url)
        flags = (*STREAM, "--permission-prompt-tool", "stdio")
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tui.cli", "-p", "go", *flags,
            cwd=project, env=env, stdin=asyncio.subprocess.PIPE, stdout=writing,
        )  # fmt: skip
        os.close(writing)
        with os.fdopen(reading, "rb") as lines:
            while b'"can_use_tool"' not in await asyncio.to_thread(lines.readline):
                pass
        # It still could answer: the pipe to the program stays open.
        assert await process.wait() == 141
        await process.communicate()
    assert not (project / "made").exists()


async def test_its_hooks_are_asked(project: Path, fresh_home: Path) -> None:
    async with (
        ScriptedServer(Scenario(turns=(TOUCH, HELLO))) as server,
        program(server, project, fresh_home, "--allow", "Bash") as caller,
    ):
        hooks = {"PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["h1"]}]}
        caller.request("1", subtype="initialize", hooks=hooks)
        assert (await caller.until("control_response"))["response"]["subtype"] == "success"
        caller.prompt("make it")
        asked = await caller.until("control_request")
        assert asked["request"]["callback_id"] == "h1"
        assert asked["request"]["input"]["tool_input"] == {"command": "touch made"}
        decision = {"permissionDecision": "deny", "permissionDecisionReason": "no way"}
        answer = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decision}}
        caller.answer(asked, answer)
        await caller.until("result")
        assert await caller.end() == 0
    assert "no way" in str(server.requests[-1].body["messages"][-1])
    assert not (project / "made").exists()


async def test_it_interrupts_and_continues(project: Path, fresh_home: Path) -> None:
    stall = FaultPlan(Stall(hold="first"), request=1)
    async with (
        ScriptedServer(Scenario(turns=(HELLO,), faults=(stall,))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.prompt("one")
        await server.wait_for_hold("first")
        caller.request("1", subtype="interrupt")
        assert (await caller.until("result"))["subtype"] == "error_during_execution"
        caller.request("2", subtype="set_permission_mode", mode="plan")
        assert (await caller.until("control_response"))["response"]["response"]["mode"] == "plan"
        caller.prompt("two")
        assert (await caller.until("result"))["result"] == "Hello there."
        assert await caller.end() == 0


async def test_it_takes_back_a_prompt_that_waits(project: Path, fresh_home: Path) -> None:
    stall = FaultPlan(Stall(hold="first"), request=1)
    async with (
        ScriptedServer(Scenario(turns=(replace(HELLO, times=0),), faults=(stall,))) as server,
        program(server, project, fresh_home, "--replay-user-messages") as caller,
    ):
        caller.prompt("one", uuid="a")
        await server.wait_for_hold("first")
        caller.prompt("two", uuid="b")
        caller.prompt("three", uuid="c")
        for number, message in enumerate(("b", "b", "a")):
            caller.request(str(number), subtype="cancel_async_message", message_uuid=message)
            response = (await caller.until("control_response"))["response"]["response"]
            assert response == {"cancelled": number == 0}
        caller.request("9", subtype="interrupt")
        response = (await caller.until("control_response"))["response"]["response"]
        assert response == {"still_queued": ["c"]}
        assert (await caller.until("result"))["user_message_uuid"] == "a"
        assert (await caller.until("user"))["uuid"] == "c"
        assert (await caller.until("result"))["user_message_uuid"] == "c"
        assert await caller.end() == 0
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["int", "term"]
)
async def test_a_signal_ends_a_run_that_waits_for_prompts(
    project: Path, fresh_home: Path, number: signal.Signals, status: int
) -> None:
    async with (
        ScriptedServer(Scenario(turns=(HELLO,))) as server,
        program(server, project, fresh_home) as caller,
    ):
        caller.prompt("one")
        await caller.until("result")
        caller.process.send_signal(number)
        assert await caller.process.wait() == status


@pytest.mark.parametrize(
    ("content", "status", "results", "says"),
    [
        ([json.dumps({"type": "user", "message": {"content": "x"}})], 0, 2, ""),
        ([], 0, 1, ""),
        (["nonsense"], 2, 2, "input line: not JSON"),
        (["[]"], 2, 2, "not a user message"),
        (['{"type": []}'], 2, 2, "not a user message"),
        (
            [json.dumps({"type": "user", "message": {"role": "assistant", "content": "x"}})],
            2,
            2,
            "the role 'assistant'",
        ),
        ([json.dumps({"type": "user", "message": {"content": " "}})], 2, 2, "empty"),
    ],
    ids=["prompt", "nothing", "no-json", "no-object", "no-type", "role", "blank"],
)
async def test_lines_come_from_a_file_as_well_after_a_prompt_of_the_command_line(
    project: Path, fresh_home: Path, content: list[str], status: int, results: int, says: str
) -> None:
    lines = project / "lines.jsonl"
    lines.write_text("".join(f"{line}\n" for line in content))
    async with ScriptedServer(Scenario(turns=(HELLO,))) as server:
        with lines.open() as file:
            env = environment(fresh_home, server.base_url)
            process = await fork_program([*STREAM, "the first"], project, env, stdin=file.fileno())
            out, err = await process.communicate()
    kinds = [json.loads(line)["type"] for line in out.splitlines()]
    assert (process.returncode, kinds.count("result")) == (status, results), err
    assert says in err.decode()
