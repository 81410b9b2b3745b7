"""A conversation with images that is compacted by another provider than the one that wrote it."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, Thinking, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from tests.agent.tools.test_read import png
from tests.journeys.program import run
from tests.journeys.test_providers import KEY, MODELS, env_of

ALL = {**MODELS, "anthropic": "claude-opus-5-5"}
PATHS = {
    "openai": "/responses",
    "gemini": ":streamGenerateContent",
    "work": "/chat/completions",
    "anthropic": "/v1/messages",
}
SUMMARY = Turn((Text("It was a picture."),), when=When(prompt="about to be compacted"), times=0)


def configure(home: Path, server: ScriptedServer) -> None:
    """Have each provider at the server, besides the main endpoint."""
    at = {"baseUrl": server.base_url}
    work = {**at, "keyVariable": "WORK_KEY", "api": "chat"}
    settings = {"providers": {"openai": at, "gemini": at, "work": work}}
    (home / ".agent" / "settings.json").write_text(json.dumps(settings))


@pytest.mark.parametrize("writer", [*ALL])
async def test_each_other_provider_compacts_and_continues(
    project: Path, fresh_home: Path, writer: str
) -> None:
    (project / "logo.png").write_bytes(png(20, 10))
    picture = base64.b64encode(png(20, 10)).decode()
    look = Turn((Thinking("Hm."), ToolCall("Read", {"file_path": "logo.png"})))
    seen = Turn((Text("Seen. " * 4000),))
    for other in (name for name in ALL if name != writer):
        turns = (look, seen, SUMMARY, Turn((Text("Again."),), times=0))
        async with ScriptedServer(Scenario(turns=turns)) as server:
            main = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": KEY}
            env = env_of(fresh_home, server, **main)
            # At a gateway of one's own, names of providers are the gateway's without an entry.
            configure(fresh_home, server)

            async def say(*arguments: str, env: dict[str, str] = env) -> str:
                given = (*arguments, "--output-format", "json")
                status, out, err = await run(*given, cwd=project, env=env)
                assert (status, "Traceback" in err) == (0, False), err
                return out

            first = json.loads(await say("-p", "look", "--model", ALL[writer]))
            session = ("-r", first["session_id"], "--model", ALL[other])
            asked = len(server.requests)
            await say("-p", "/compact", *session)
            assert picture in json.dumps(server.requests[asked].body)
            assert json.loads(await say("-p", "go", *session))["result"] == "Again."
            last = json.dumps(server.requests[-1].body)
            assert "It was a picture." in last
            assert "Seen. Seen." not in last
            assert [each.problem for each in server.requests if each.problem] == []
            paths = [each.path for each in server.requests]
            assert PATHS[writer] in paths[0]
            assert all(PATHS[other] in each for each in paths[asked:])
