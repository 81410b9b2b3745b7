"""MCP servers in a team: a leader coordinates without them, a worker has those of its subtask."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import Text, ToolCall
from agent.teams.executors.executor import START_FILE
from tests.journeys.conftest import results
from tests.journeys.test_agent_servers import in_a_project_file, kind
from tests.journeys.test_mcp_consent import Person, plain
from tests.journeys.test_teams import COORDINATION, lead, run, spawn, team_of, worker

COMMON = {"SendMessage", "TaskList", "TaskUpdate"}
OTHER = {"mcp__other__echo", "mcp__other__write"}
OWN = {"mcp__own__echo", "mcp__own__write"}
OF_KIND = ToolCall("SpawnTeammate", {"name": "r", "prompt": "Read.", "agent_type": "db"})


def tools_of(request: RecordedRequest) -> set[str]:
    return {tool["name"] for tool in request.body.get("tools", [])}


async def test_a_leader_has_no_tools_of_servers_and_a_worker_those_it_is_given(
    tmp_path: Path, fresh_home: Path
) -> None:
    config = json.dumps({"mcpServers": {"other": plain()}})
    calls = (
        spawn("none", "None.", "Read"),
        spawn("one", "One.", "Glob", "mcp__other__echo"),
        spawn("all", "All.", "Grep", "mcp__other"),
        spawn("bad", "Bad.", "mcp__another__echo"),
    )
    turns = [
        lead(*calls),
        *(worker(tool, Text("I read."), times=0) for tool in ("Read", "Glob", "Grep")),
    ]
    async with team_of(tmp_path, fresh_home, turns) as team:
        leader = await team.lead(mcp_configs=(config,), headless=True)
        await leader.servers.ready()
        events = await run(leader, "Please do it.")
        own = team.requests_of("SpawnTeammate")
        assert [tools_of(one) for one in own] == [COORDINATION] * len(own)
        told = json.dumps(own[0].body["messages"])
        assert "workers can be given: mcp__other__echo, mcp__other__write" in told
        assert "Workers have no tool mcp__another__echo." in results(events)[-1].text
        assert tools_of(team.requests_of("Read")[0]) == {"Read", *COMMON}
        assert tools_of(team.requests_of("Glob")[0]) == {"Glob", "mcp__other__echo", *COMMON}
        assert tools_of(team.requests_of("Grep")[0]) == {"Grep", *OTHER, *COMMON}


@pytest.mark.parametrize("mode", ["in-process", "process"])
async def test_a_worker_has_the_servers_of_its_kind(
    tmp_path: Path, fresh_home: Path, mode: str
) -> None:
    turns = [
        lead(OF_KIND),
        worker("Read", ToolCall("mcp__own__echo", {"text": "over the wire"}), prompt="Read"),
        worker("Read", Text("I read."), times=0),
    ]
    agents = {"db": kind(mcpServers=[{"own": plain()}])}
    async with team_of(tmp_path, fresh_home, turns, mode=mode) as team:
        leader = await team.lead(agents=agents, allow=("mcp__own",))
        await run(leader, "Please do it.")
        inside = team.requests_of("Read")
        assert tools_of(inside[0]) == {"Read", *OWN, *COMMON}
        assert "over the wire" in json.dumps(inside[-1].body["messages"][-1])
        assert not any(tools_of(one) & OWN for one in team.requests_of("SpawnTeammate"))
        # What a process is started with may contain keys.
        assert list(team.directory.rglob(START_FILE)) == []


@pytest.mark.parametrize("answer", ["approved", "rejected"])
async def test_the_leader_asks_about_the_servers_of_a_projects_kind(
    tmp_path: Path, fresh_home: Path, answer: Any
) -> None:
    turns = [lead(OF_KIND), worker("Read", Text("I read."), times=0)]
    async with team_of(tmp_path, fresh_home, turns) as team:
        in_a_project_file(team.project, fresh_home)
        person = Person(answer)
        team.mcp = lambda: person
        events = await run(await team.lead(), "Please do it.")
        asked = person.asked.get_nowait()
        assert (asked.definition.name, asked.definition.is_foreign) == ("own", True)
        own = OWN if answer == "approved" else set()
        assert tools_of(team.requests_of("Read")[0]) == {"Read", *own, *COMMON}
        said = "The MCP server own is not started (you rejected it)." in results(events)[0].text
        assert said == (answer == "rejected")


async def test_without_a_user_the_server_of_a_projects_kind_is_not_started(
    tmp_path: Path, fresh_home: Path
) -> None:
    turns = [lead(OF_KIND), worker("Read", Text("I read."), times=0)]
    async with team_of(tmp_path, fresh_home, turns) as team:
        in_a_project_file(team.project, fresh_home)
        events = await run(await team.lead(), "Please do it.")
        assert "own is not started (waits for approval)" in results(events)[0].text
        assert tools_of(team.requests_of("Read")[0]) == {"Read", *COMMON}
