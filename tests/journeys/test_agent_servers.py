"""MCP servers that an agent's definition configures: there while it works, for it alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.assembly.assemble import settings_for
from agent.model.scripted.scenario import Part, Text, ToolCall
from agent.options import RunOptions
from agent.settings.trust import TrustStore
from tests.journeys.conftest import Begin, Journey
from tests.journeys.start import user_at
from tests.journeys.test_agents import Script, is_agent, report_of, scripted, start
from tests.journeys.test_mcp_consent import Person, plain

ECHO = ToolCall("mcp__own__echo", {"text": "over the wire"})
OWN = {"mcp__own__echo", "mcp__own__write"}


def kind(**fields: object) -> dict[str, Any]:
    return {"description": "d", "prompt": "p", "tools": ["Read"], **fields}


def script(*calls: Part) -> Script:
    return {
        "task-db": [[ECHO], [Text("done")]],
        "": [[start("task-db", subagent_type="db"), *calls], [Text("ok")]],
    }


def offered(journey: Journey) -> list[tuple[bool, set[str]]]:
    """For each request: whether it is the agent's, and which tools of servers it offers."""
    return [
        (
            is_agent(request),
            {t["name"] for t in request.body["tools"] if t["name"].startswith("mcp__")},
        )
        for request in journey.server.requests
    ]


def in_a_project_file(project: Path, home: Path) -> None:
    """Write a definition, and have the user trust its content."""
    directory = project / ".agent" / "agents"
    directory.mkdir(parents=True)
    head = json.dumps(kind(name="db", mcpServers=[{"own": plain()}]))
    (directory / "db.md").write_text(f"---\n{head}\n---\nYou query.\n")
    settings = settings_for(RunOptions(), user_at(home, project))
    TrustStore(settings.agent_home / "trust.json").accept(settings.trust)


async def test_a_server_of_a_definition_is_there_while_its_agent_works_and_for_it_alone(
    begin: Begin,
) -> None:
    agents = {"db": kind(mcpServers=[{"own": plain()}])}
    journey = await begin(respond=scripted(script()), agents=agents, allow=("mcp__own",))
    events = await journey.send("go")
    assert not report_of(events).is_error
    assert offered(journey) == [(False, set()), (True, OWN), (True, OWN), (False, set())]
    inside = [r for r in journey.server.requests if is_agent(r)]
    assert "over the wire" in json.dumps(inside[-1].body["messages"][-1])
    live = journey.assembled.commands.context.servers()
    assert live is not None
    assert live.views() == ()


async def test_agents_of_one_kind_share_a_server_and_the_last_one_ends_it(begin: Begin) -> None:
    both: Script = {
        "task-one": [[ECHO], [Text("done")]],
        "task-two": [[ECHO], [ECHO], [Text("done")]],
        "": [
            [start("task-one", subagent_type="db"), start("task-two", subagent_type="db")],
            [Text("ok")],
        ],
    }
    agents = {"db": kind(mcpServers={"own": plain()})}
    journey = await begin(respond=scripted(both), agents=agents, allow=("mcp__own",))
    events = await journey.send("go")
    assert [report_of(events, number).is_error for number in (0, 1)] == [False, False]
    inside = [r for r in journey.server.requests if is_agent(r)]
    assert sum("over the wire" in json.dumps(r.body["messages"][-1]) for r in inside) == 3
    live = journey.assembled.commands.context.servers()
    assert live is not None
    assert live.views() == ()


@pytest.mark.parametrize("answer", ["approved", "rejected"])
async def test_a_server_of_a_projects_definition_is_asked_about(
    begin: Begin, tmp_path: Path, fresh_home: Path, answer: Any
) -> None:
    in_a_project_file(tmp_path / "a project", fresh_home)
    person = Person(answer)
    journey = await begin(respond=scripted(script()), mcp=person, allow=("mcp__own",))
    await journey.send("go")
    asked = person.asked.get_nowait()
    assert (asked.definition.name, asked.definition.is_foreign) == ("own", True)
    inside = next(r for r in journey.server.requests if is_agent(r))
    tools = {t["name"] for t in inside.body["tools"]}
    assert tools == {"Read", *(OWN if answer == "approved" else ())}
    said = "is not started (you rejected it)" in json.dumps(inside.body["messages"])
    assert said == (answer == "rejected")


async def test_without_a_user_a_server_of_a_projects_definition_is_not_started(
    begin: Begin, tmp_path: Path, fresh_home: Path
) -> None:
    in_a_project_file(tmp_path / "a project", fresh_home)
    journey = await begin(respond=scripted(script()), has_person=False, allow=("mcp__own",))
    await journey.send("go")
    inside = next(r for r in journey.server.requests if is_agent(r))
    assert {t["name"] for t in inside.body["tools"]} == {"Read"}
    assert "waits for approval" in json.dumps(inside.body["messages"])


async def test_a_configured_server_does_not_lose_its_name(begin: Begin) -> None:
    config = json.dumps({"mcpServers": {"own": plain("--first")}})
    agents = {"db": kind(mcpServers=[{"own": plain()}])}
    journey = await begin(
        respond=scripted(script(ECHO)), agents=agents, mcp_configs=(config,), allow=("mcp__own",)
    )
    await journey.assembled.servers.ready()
    await journey.send("go")
    inside = next(r for r in journey.server.requests if is_agent(r))
    assert "another server has this name" in json.dumps(inside.body["messages"])
    live = journey.assembled.commands.context.servers()
    assert live is not None
    assert [view.definition.args[-1] for view in live.views()] == ["--first"]


async def test_an_agent_that_leads_the_session_brings_its_servers(begin: Begin) -> None:
    agents = {"db": kind(mcpServers=[{"own": plain()}])}
    config = json.dumps({"mcpServers": {"other": plain()}})
    answers: Script = {"": [[ECHO], [Text("ok")]]}
    journey = await begin(
        respond=scripted(answers),
        agents=agents,
        agent="db",
        mcp_configs=(config,),
        has_person=False,
        allow=("mcp__own",),
    )
    await journey.assembled.servers.ready()
    await journey.send("go")
    assert offered(journey) == [(False, OWN), (False, OWN)]
    assert "over the wire" in json.dumps(journey.last_messages())
