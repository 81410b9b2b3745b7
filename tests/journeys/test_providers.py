"""The program with models of other providers: each dialect, switching, fallbacks, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.faults import Quirk, Status
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    Thinking,
    ToolCall,
    Turn,
    When,
)
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment, run

MODELS = {"openai": "openai/gpt-5", "gemini": "gemini/gemini-3-pro", "work": "work/coder"}
SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
KEY = "key-of-the-test"

each_provider = pytest.mark.parametrize("provider", [*MODELS])


def env_of(home: Path, server: ScriptedServer, **more: str) -> dict[str, str]:
    """Return a user's environment in which each provider is at the scripted server."""
    (home / ".agent").mkdir(parents=True, exist_ok=True)
    work = {"baseUrl": server.base_url, "keyVariable": "WORK_KEY", "api": "chat"}
    settings = {"providers": {"work": work}}
    (home / ".agent" / "settings.json").write_text(json.dumps(settings))
    env = environment(
        home,
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=server.base_url,
        GEMINI_API_KEY=KEY,
        GOOGLE_GEMINI_BASE_URL=server.base_url,
        WORK_KEY=KEY,
    )
    return {**env, **more}


async def ask(
    project: Path, home: Path, server: ScriptedServer, *arguments: str, **env: str
) -> tuple[int, dict[str, Any], str]:
    """Run one prompt and return the status, the result and standard error."""
    given = ("-p", "go", "--output-format", "json", *arguments)
    status, out, err = await run(*given, cwd=project, env=env_of(home, server, **env))
    return status, json.loads(out) if out else {}, err


@each_provider
async def test_tools_work_the_same(project: Path, fresh_home: Path, provider: str) -> None:
    (project / "notes.txt").write_text("remember the milk\n")
    path = str(project / "notes.txt")
    turns = (
        Turn((Thinking("Look first."), ToolCall("Read", {"file_path": path}))),
        Turn((Text("It says: ${result}"),)),
    )
    async with ScriptedServer(Scenario(turns=turns, api_key=KEY)) as server:
        status, result, err = await ask(project, fresh_home, server, "--model", MODELS[provider])
    assert (status, err) == (0, "")
    assert "remember the milk" in result["result"]
    assert MODELS[provider].partition("/")[2] in str(result["modelUsage"])
    assert [each.problem for each in server.requests] == ["", ""]


@each_provider
async def test_an_answer_follows_its_schema(project: Path, fresh_home: Path, provider: str) -> None:
    turns = (Turn((Text("It is three."),)), Turn((Text('{"n": "3"}'),)), Turn((Text('{"n": 3}'),)))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        status, result, _ = await ask(
            project, fresh_home, server, "--model", MODELS[provider], "--json-schema", SCHEMA
        )
    assert status == 0
    assert result["structured_output"] == {"n": 3}
    assert "json_schema" in str(server.requests[0].body) or "responseJsonSchema" in str(
        server.requests[0].body
    )
    assert [each.problem for each in server.requests] == ["", "", ""]


async def test_an_answer_that_never_follows_its_schema(project: Path, fresh_home: Path) -> None:
    turn = Turn((Text("No."),), times=0)
    async with ScriptedServer(Scenario(turns=(turn,))) as server:
        status, result, _ = await ask(
            project, fresh_home, server, "--model", "openai/gpt-5", "--json-schema", SCHEMA
        )
    assert status == 1
    assert result["subtype"] == "error_max_structured_output_retries"
    assert "it is not one JSON object" in result["errors"][0]
    assert "structured_output" not in result
    assert len(server.requests) == 5


async def test_a_schema_that_the_server_refuses_is_checked_here(
    project: Path, fresh_home: Path
) -> None:
    refusal = Status(400, message="Cannot use custom grammar constraints with tools.")
    fault = FaultPlan(refusal, when=When(), times=1)
    scenario = Scenario(turns=(Turn((Text('```json\n{"n": 3}\n```'),)),), faults=(fault,))
    async with ScriptedServer(scenario) as server:
        status, result, err = await ask(
            project, fresh_home, server, "--model", "work/coder", "--json-schema", SCHEMA
        )
    assert (status, result["structured_output"]) == (0, {"n": 3})
    assert "a schema for its answer" in err
    assert "response_format" not in server.requests[1].body


@pytest.mark.parametrize("schema", ["{", '{"type": "objekt"}', '{"type": "array"}'])
async def test_a_schema_that_is_none(project: Path, fresh_home: Path, schema: str) -> None:
    async with ScriptedServer(Scenario()) as server:
        status, _, err = await ask(
            project, fresh_home, server, "--model", "openai/gpt-5", "--json-schema", schema
        )
    assert status == 2
    assert "The JSON schema" in err
    assert server.requests == []


@pytest.mark.parametrize(
    ("arguments", "env", "words"),
    [
        (["openai/gpt-5"], {"OPENAI_API_KEY": "wrong"}, "Check OPENAI_API_KEY."),
        (["gemini/gemini-3-pro"], {"GEMINI_API_KEY": "wrong"}, "Check GEMINI_API_KEY or"),
        (["work/coder"], {"WORK_KEY": "wrong"}, "Check WORK_KEY."),
        (["mistral/large"], {}, "Set MISTRAL_API_KEY"),
        (["openai/unheard-of"], {}, "Choose another with /model"),
        (["work/unheard-of"], {}, "Choose another with /model"),
        (["gemini/unheard-of"], {}, "Choose another with /model"),
    ],
)
async def test_bad_input_explains_what_to_do(
    project: Path, fresh_home: Path, arguments: list[str], env: dict[str, str], words: str
) -> None:
    models = tuple(ModelInfo(name.partition("/")[2]) for name in MODELS.values())
    scenario = Scenario(turns=(), models=models, any_model=False, api_key=KEY)
    async with ScriptedServer(scenario) as server:
        status, result, err = await ask(project, fresh_home, server, "--model", *arguments, **env)
    assert status == 1
    assert words in str(result) + err


async def test_another_provider_takes_over(project: Path, fresh_home: Path) -> None:
    fault = FaultPlan(Status(529), when=When(model="gpt-5"), times=0)
    scenario = Scenario(turns=(Turn((Text("Here I am."),)),), faults=(fault,))
    async with ScriptedServer(scenario) as server:
        status, result, err = await ask(
            project, fresh_home, server,
            "--model", "openai/gpt-5", "--fallback-model", "gemini/gemini-3-pro",
        )  # fmt: skip
    assert (status, result["result"]) == (0, "Here I am.")
    assert "switched from openai/gpt-5 to gemini/gemini-3-pro" in err


async def test_a_session_continues_with_another_provider(project: Path, fresh_home: Path) -> None:
    call = ToolCall("Bash", {"command": "echo one"})
    turns = (
        Turn((Thinking("Hm."), call)), Turn((Text("First."),)),
        Turn((Text("Second."),)), Turn((Text("Third."),)), Turn((Text("Fourth."),)),
    )  # fmt: skip
    async with ScriptedServer(Scenario(turns=turns)) as server:
        _, result, _ = await ask(project, fresh_home, server, "--model", "openai/gpt-5")
        session = ("-r", result["session_id"], "--model")
        said = []
        for model in ("gemini/gemini-3-pro", "work/coder", "openai/gpt-5"):
            _, result, _ = await ask(project, fresh_home, server, *session, model)
            said.append(result["result"])
    assert said == ["Second.", "Third.", "Fourth."]
    assert [each.problem for each in server.requests] == [""] * 5
    assert "encrypted_content" in str(server.requests[1].body["input"])


async def test_calls_written_as_text_are_run(project: Path, fresh_home: Path) -> None:
    call = ToolCall("Bash", {"command": "echo from-a-weak-model"})
    turns = (Turn((call,), fault=Quirk("calls_as_text")), Turn((Text("It said ${result}"),)))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        status, result, _ = await ask(
            project, fresh_home, server, "--model", "work/coder", "--allow", "Bash(echo *)"
        )
    assert status == 0
    assert "from-a-weak-model" in result["result"]


async def test_a_key_alone_says_how_to_name_a_model(project: Path, fresh_home: Path) -> None:
    env = environment(fresh_home, OPENAI_API_KEY=KEY)
    status, _, err = await run("-p", "go", cwd=project, env=env)
    assert status != 0
    assert "--model openai/NAME" in err


async def test_a_provider_without_a_model_is_no_model_of_the_main_endpoint(
    project: Path, fresh_home: Path
) -> None:
    env = environment(fresh_home, "http://127.0.0.1:9", OPENAI_API_KEY=KEY)
    status, _, err = await run("-p", "go", "--model", "openai/", cwd=project, env=env)
    assert status != 0
    assert "openai/ names a provider and no model: write openai/NAME." in err


async def test_a_provider_that_there_is_not_is_named(project: Path, fresh_home: Path) -> None:
    environ = environment(fresh_home)
    status, _, err = await run("-p", "go", "--model", "nowhere/x", cwd=project, env=environ)
    assert status != 0
    assert "There is no provider nowhere. Known: " in err


async def test_a_project_chooses_no_other_provider(project: Path, fresh_home: Path) -> None:
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"model": "openai/gpt-5"}')
    async with ScriptedServer(Scenario(turns=(Turn((Text("Hi."),)),))) as server:
        status, _, err = await ask(project, fresh_home, server, "--trust")
    assert status != 0
    assert "No model is chosen" in err
    assert server.requests == []
