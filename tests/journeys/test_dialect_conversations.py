"""One conversation in each dialect: reasoning, parallel tools, failures, a cut, a summary, Esc.

Each ends with another provider, which takes the history as its own.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.model.providers.provider_setup import ProviderSettings, configured_providers
from agent.model.scripted.faults import Cut, ErrorFault, Position, Stall, Status
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, Thinking, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from tests.journeys.conftest import Begin, results, terminal
from tests.journeys.program import environment, run
from tests.journeys.start import model_at

MODELS: Mapping[str, str] = {
    "messages": "claude-opus-5-5",
    "responses": "openai/gpt-5",
    "chat": "work/coder",
    "gemini": "gemini/gemini-3-pro",
}
PATHS: Mapping[str, str] = {
    "messages": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "streamGenerateContent",
}
each_dialect = pytest.mark.parametrize("dialect", list(MODELS))
BOTH = Turn(
    (
        Thinking("Two files are needed."),
        Text("I read both."),
        ToolCall("Read", {"file_path": "a.txt"}),
        ToolCall("Read", {"file_path": "b.txt"}),
    )
)
LONG = Text("one two three four five six seven eight nine ten " * 4)


def providers(home: Path, server: ScriptedServer) -> dict[str, str]:
    """Return the variables with which every provider is the scripted server."""
    (home / ".agent").mkdir(parents=True, exist_ok=True)
    work = {"baseUrl": server.base_url, "keyVariable": "WORK_KEY", "api": "chat"}
    settings = {"providers": {"work": work, "openai": {}, "gemini": {}}}
    (home / ".agent" / "settings.json").write_text(json.dumps(settings))
    return {
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": server.base_url,
        "GEMINI_API_KEY": "key",
        "GOOGLE_GEMINI_BASE_URL": server.base_url,
        "WORK_KEY": "key",
    }


@each_dialect
async def test_a_conversation(project: Path, fresh_home: Path, dialect: str) -> None:
    (project / "a.txt").write_text("alpha\n")
    (project / "b.txt").write_text("beta\n")
    summary = Turn((Text("They read two files."),), times=0, when=When(prompt="summar"))
    turns = (
        summary,
        BOTH,
        Turn((Text("Read."),)),
        Turn((LONG,), fault=Cut(Position("text"), "end")),
        Turn((LONG,), fault=ErrorFault(Position("text"))),
        Turn((Text("Whole."),)),
        Turn((Text("After."),), times=0),
    )
    faults = (
        FaultPlan(Status(429, headers={"retry-after": "0"}), request=1),
        FaultPlan(Status(500), request=3),
    )
    other = "gemini/gemini-3-pro" if dialect != "gemini" else "openai/gpt-5"
    lines = [
        {"type": "user", "message": {"role": "user", "content": text}}
        for text in ("read both", "go on", "/compact", "and then")
    ]
    async with ScriptedServer(Scenario(turns=turns, faults=faults)) as server:
        env = environment(fresh_home, server.base_url, **providers(fresh_home, server))
        form = ("--input-format", "stream-json", "--output-format", "stream-json")
        given = "".join(json.dumps(line) + "\n" for line in lines)
        status, out, err = await run(
            "-p", "--model", MODELS[dialect], *form, cwd=project, env=env, stdin=given
        )
        written = [json.loads(line) for line in out.splitlines()]
        ends = [line for line in written if line["type"] == "result"]
        session = ends[-1]["session_id"]
        _, resumed, _ = await run(
            *("-p", "once more", "-r", session, "--model", other), cwd=project, env=env
        )
    said = [end["result"] for end in ends]
    assert (said[0], said[1], said[3]) == ("Read.", "Whole.", "After."), err
    assert said[2].startswith("Compacted: ")
    assert (status, resumed) == (0, "After.\n")
    assert [each.problem for each in server.requests] == [""] * len(server.requests)
    assert all(PATHS[dialect] in each.path for each in server.requests[:-1])


@each_dialect
async def test_esc_keeps_what_was_written(begin: Begin, fresh_home: Path, dialect: str) -> None:
    turns = (BOTH, Turn((LONG,)), Turn((Text("Yes?"),)))
    faults = (FaultPlan(Stall(Position("text"), hold="talking"), request=2),)
    async with ScriptedServer(Scenario(turns=turns, faults=faults)) as server:
        env = providers(fresh_home, server)
        work = ProviderSettings(base_url=server.base_url, key_variable="WORK_KEY")
        known = {"work": work, "openai": ProviderSettings(), "gemini": ProviderSettings()}
        at = model_at(server.base_url, MODELS[dialect])
        setup = replace(at, providers=configured_providers(known, env), env=env)
        journey = await begin(server=server, model_setup=setup)
        sent = asyncio.create_task(journey.send("go"))
        await server.wait_for_hold("talking")
        journey.conversation.controls.interrupt()
        events = await sent
        assert len(results(events)) == 2
        assert terminal(events).reason == "aborted_streaming"
        assert terminal(await journey.send("go on")).reason == "completed"
        told = await journey.conversation.controls.set_model(MODELS["gemini"])
        assert ("reasoning of earlier answers" in told) == (dialect != "gemini"), told
        assert [each.problem for each in server.requests] == [""] * 3
        assert all(PATHS[dialect] in each.path for each in server.requests)
