"""What users of agents complain of elsewhere, and what an agent cannot do by any way."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace

from agent.events import PermissionRequested
from agent.model.scripted.scenario import Scenario, Text, ToolCall
from agent.model.scripted.server import ScriptedServer
from permissions.decision import Behavior, GrantChoice
from permissions.resolve.handlers import user_decision
from tests.journeys.conftest import Begin, results
from tests.journeys.program import environment, run
from tests.journeys.test_agent_worktrees import Owner
from tests.journeys.test_agents import (
    Script,
    background_turn,
    is_agent,
    limited,
    report_of,
    scripted,
    start,
    task_of,
)
from tests.journeys.test_mcp import entry, servers

WRITE = ToolCall("mcp__plain__write", {})
TOUCH = ToolCall("Bash", {"command": "touch made"})


async def test_a_reviewer_has_no_tool_of_a_server_that_is_connected(
    project: Path, fresh_home: Path
) -> None:
    """Though the conversation has it, and the rules allow it."""
    script: Script = {
        "task-check": [[WRITE], [Text("I could not.")]],
        "": [[start("task-check", subagent_type="reviewer"), WRITE], [Text("ok")]],
    }
    flags = ("--mcp-config", servers(plain=entry()), "--allow", "mcp__plain")
    async with ScriptedServer(Scenario(), respond=scripted(script)) as server:
        env = environment(fresh_home, server.base_url)
        status, out, err = await run(
            "-p", "go", "--output-format", "stream-json", *flags, cwd=project, env=env
        )
        assert status == 0, err
        inside = next(r for r in server.requests if is_agent(r))
    assert not [t for t in inside.body["tools"] if t["name"].startswith("mcp__")]
    blocks = [
        (line["parent_tool_use_id"] is not None, block.get("is_error", False))
        for line in map(json.loads, out.splitlines())
        if line["type"] == "user"
        for block in line["message"]["content"]
        if block["type"] == "tool_result" and "I could not" not in json.dumps(block)
    ]
    assert sorted(blocks) == [(False, False), (True, True)]


async def test_a_definition_names_servers_beside_its_tools(project: Path, fresh_home: Path) -> None:
    kind = {"description": "d", "prompt": "p", "tools": ["Read"], "mcpServers": ["plain"]}
    script: Script = {
        "task-db": [[Text("done")]],
        "": [[start("task-db", subagent_type="db")], [Text("ok")]],
    }
    flags = ("--mcp-config", servers(plain=entry()), "--agents", json.dumps({"db": kind}))
    async with ScriptedServer(Scenario(), respond=scripted(script)) as server:
        env = environment(fresh_home, server.base_url)
        status, _, err = await run("-p", "go", *flags, cwd=project, env=env)
        assert status == 0, err
        inside = next(r for r in server.requests if is_agent(r))
    offered = {tool["name"] for tool in inside.body["tools"]}
    assert offered == {"Read", "mcp__plain__echo", "mcp__plain__write"}


async def test_who_may_only_read_starts_no_one_who_may_write(begin: Begin) -> None:
    """Every tool of the general kind is every tool that its parent has."""
    kind = {"description": "d", "prompt": "p", "tools": ["Read", "Grep", "Agent"]}
    script: Script = {
        "task-outer": [[start("task-inner")], [Text("no")]],
        "task-inner": [[TOUCH], [Text("no")]],
        "": [[start("task-outer", subagent_type="half")], [Text("ok")]],
    }
    journey = await begin(
        respond=scripted(script), agents={"half": kind}, permission_mode="acceptEdits"
    )
    events = await journey.send("go")
    assert not (journey.project / "made").exists()
    inner = next(r for r in journey.server.requests if "Do task-inner" in task_of(r))
    assert {tool["name"] for tool in inner.body["tools"]} == {"Read", "Grep", "Agent"}
    assert next(r for r in results(events) if r.name == "Bash").is_error


async def test_c5_a_message_starts_no_second_copy(begin: Begin) -> None:
    say = ToolCall("SendMessage", {"to": "finder", "message": "Again."})
    script: Script = {
        "task-a": [[Text("plum")]],
        "": [[start("task-a", name="finder")], [say], [Text("ok")], [Text("ok")]],
    }
    journey = await begin(respond=scripted(script))
    await journey.send("go")
    agents = journey.conversation.agents
    if agents.running or agents.reports.has_reports:
        await background_turn(journey)
    assert [(agent.id, agent.runs) for agent in agents.all()] == [("finder", 2)]


async def test_c7_a_question_from_the_background_reaches_the_user_and_a_no_is_reported(
    begin: Begin,
) -> None:
    script: Script = {
        "task-w": [[TOUCH], [Text("I was not allowed.")]],
        "": [[start("task-w", name="worker", run_in_background=True)], [Text("ok")]],
    }
    journey = await begin(respond=scripted(script), answers=[user_decision(Behavior.DENY)])
    await journey.send("go")
    if journey.conversation.agents.running or journey.conversation.agents.reports.has_reports:
        await background_turn(journey)
    assert [request.tool for request, _ in journey.person.asked] == ["Bash"]
    assert not (journey.project / "made").exists()
    assert "denied calls: " in json.dumps(journey.last_messages())


async def test_c9_what_is_granted_while_an_agent_works_counts_for_all(begin: Begin) -> None:
    """The second agent and the conversation are not asked again."""
    script: Script = {
        "task-one": [[TOUCH], [Text("done")]],
        "task-two": [[TOUCH], [Text("done")]],
        "": [[start("task-one")], [start("task-two")], [TOUCH], [Text("ok")]],
    }
    grant = GrantChoice(("Bash(touch made)",), "session")
    answer = replace(user_decision(Behavior.ALLOW), grant=grant)
    journey = await begin(respond=scripted(script), answers=[answer])
    events = await journey.send("go")
    assert len([e for e in events if isinstance(e, PermissionRequested)]) == 1
    assert not any(r.is_error for r in results(events))


async def test_c13_at_a_limit_the_user_is_asked_and_a_yes_continues(begin: Begin) -> None:
    echo = ToolCall("Bash", {"command": "echo x"})
    script: Script = {
        "task-s": [[echo], [echo], [Text("done")]],
        "": [[start("task-s")], [Text("ok")]],
    }
    user = Owner("Allow")
    journey = await limited(begin, {"maxTokensEach": 1}, script, ask=user)
    result = report_of(await journey.send("go"))
    assert not result.is_error
    assert "which is its limit. Allow as much again?" in user.asked[0]


async def test_c6_what_the_end_of_the_program_stopped_is_named_at_the_next_start(
    begin: Begin,
) -> None:
    wait = ToolCall("Bash", {"command": "sleep 600"})
    script: Script = {
        "task-w": [[wait]],
        "": [[start("task-w", name="worker", run_in_background=True)], [Text("ok")]],
    }
    journey = await begin(respond=scripted(script), allow=("Bash",))
    await journey.send("go")
    await journey.conversation.aclose()
    assert journey.conversation.agents.all()[0].state == "stopped"
    again = await begin(server=journey.server, resume=journey.conversation.view.session_id)
    assert not [text for text in again.assembled.notices if "cut off" in text]
    assert [text for text in again.assembled.notices if "worker" in text]
