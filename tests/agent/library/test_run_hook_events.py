"""The hook events around a run: session, prompt, the calls of a turn, the end."""

from __future__ import annotations

import json
import logging
import shlex
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from agent import (
    Agent,
    RunConfig,
    Runner,
    SQLiteSession,
    StoppedByHook,
    TranscriptSession,
    function_tool,
    program_gate,
)
from agent.model.client import ModelError
from agent.model.scripted.faults import Status
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.agent.library.conftest import Serve

DONE = Turn((Text("Done."),), times=0)
Payload = Mapping[str, object]


@function_tool
def look() -> str:
    """Look around."""
    return "nothing"


class Listener:
    """Records payloads, and answers by event."""

    def __init__(self, **answers: Payload) -> None:
        """Take what a hook prints for an event, once each."""
        self._answers = dict(answers)
        self.payloads: list[Payload] = []

    @property
    def events(self) -> list[object]:
        """The names of the events, in order."""
        return [each["hook_event_name"] for each in self.payloads]

    def config(self) -> RunConfig:
        """Return a configuration in which it listens to everything that is not a call's own."""
        names = "SessionStart UserPromptSubmit PostToolBatch Stop StopFailure SessionEnd"
        names += " SubagentStart SubagentStop"
        return RunConfig(permissions=program_gate(hooks={name: [self] for name in names.split()}))

    async def __call__(self, payload: Payload) -> Payload | None:
        """Be a hook."""
        self.payloads.append(payload)
        return self._answers.pop(str(payload["hook_event_name"]), None)


def adds(event: str, text: str) -> Payload:
    """Return an answer with context for the model."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}


async def test_a_run_fires_the_events_of_a_conversation(serve: Serve) -> None:
    await serve(Turn((ToolCall("look", {}),)), DONE)
    hear = Listener()
    await Runner.run(Agent("A", tools=[look]), "go", run_config=hear.config())
    assert hear.events == [
        "SessionStart",
        "UserPromptSubmit",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ]
    start, prompt, batch, stop, _ = hear.payloads
    assert (start["source"], start["model"]) == ("startup", "claude-opus-5-5")
    assert prompt["prompt"] == "go"
    assert batch["tool_calls"][0]["tool_name"] == "look"  # type: ignore[index]
    assert stop["last_assistant_message"] == "Done."
    assert len({each["session_id"] for each in hear.payloads}) == 1


async def test_what_hooks_add_goes_to_the_model_in_its_place(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("look", {}),)), DONE)
    names = ("SessionStart", "UserPromptSubmit", "PostToolBatch")
    hear = Listener(**{name: adds(name, f"from {name}") for name in names})
    result = await Runner.run(Agent("A", tools=[look]), "go", run_config=hear.config())
    first, last = server.requests[0].body["messages"], server.requests[-1].body["messages"]
    assert [block["text"] for block in first[0]["content"]] == [
        "from SessionStart",
        "from UserPromptSubmit",
        "go",
    ]
    assert [block["type"] for block in last[-1]["content"]] == ["tool_result", "text"]
    assert last[-1]["content"][1]["text"] == "from PostToolBatch"
    assert {"role": "user", "content": "from PostToolBatch"} in result.to_input_list()


async def test_a_blocked_prompt_is_neither_sent_nor_stored(serve: Serve) -> None:
    server = await serve(DONE)
    hear = Listener(UserPromptSubmit={"decision": "block", "reason": "not on Sundays"})
    with closing(SQLiteSession("s")) as session:
        with pytest.raises(StoppedByHook, match="not on Sundays") as caught:
            await Runner.run(Agent("A"), "go", session=session, run_config=hear.config())
        assert await session.get_items() == []
    assert (caught.value.event, caught.value.reason) == ("UserPromptSubmit", "not on Sundays")
    assert caught.value.run_data is not None
    assert server.requests == []
    assert hear.events[-1] == "SessionEnd"


async def test_a_stop_hook_continues_the_run(serve: Serve) -> None:
    server = await serve(DONE)
    hear = Listener(Stop={"decision": "block", "reason": "Run the tests first."})
    result = await Runner.run(Agent("A"), "go", run_config=hear.config())
    assert len(server.requests) == 2
    assert "Run the tests first." in str(server.requests[-1].body["messages"][-1])
    stops = [each for each in hear.payloads if each["hook_event_name"] == "Stop"]
    assert [each["stop_hook_active"] for each in stops] == [False, True]
    assert result.final_output == "Done."


async def test_a_hook_behind_the_calls_ends_the_run_and_the_session_has_them(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("look", {}),)), DONE)
    hear = Listener(PostToolBatch={"continue": False, "stopReason": "enough"})
    agent, config = Agent("A", tools=[look]), hear.config()
    with closing(SQLiteSession("s")) as session:
        with pytest.raises(StoppedByHook, match="enough"):
            await Runner.run(agent, "go", session=session, run_config=config)
        kinds = [each.get("type", each.get("role")) for each in await session.get_items()]
    assert len(server.requests) == 1
    assert kinds == ["user", "function_call", "function_call_output"]


async def test_a_hook_of_one_call_ends_the_run(serve: Serve) -> None:
    server = await serve(Turn((ToolCall("look", {}),)), DONE)

    async def stop(_payload: Payload) -> Payload:
        return {"continue": False, "stopReason": "no looking"}

    config = RunConfig(permissions=program_gate(hooks={"PreToolUse": [stop]}))
    with pytest.raises(StoppedByHook, match="no looking"):
        await Runner.run(Agent("A", tools=[look]), "go", run_config=config)
    assert len(server.requests) == 1


async def test_an_agent_as_a_tool_is_a_sub_agent(serve: Serve) -> None:
    inner = Agent("Inner").as_tool("ask_inner", "Asks")
    await serve(Turn((ToolCall("ask_inner", {"input": "hm"}),)), DONE)
    hear = Listener()
    await Runner.run(Agent("A", tools=[inner]), "go", run_config=hear.config())
    assert hear.events == [
        "SessionStart",
        "UserPromptSubmit",
        "SubagentStart",
        "SubagentStop",
        "PostToolBatch",
        "Stop",
        "SessionEnd",
    ]
    assert hear.payloads[2]["agent_type"] == "Inner"
    assert len({each["session_id"] for each in hear.payloads}) == 1


async def test_a_failed_endpoint_is_reported(serve: Serve) -> None:
    await serve(Turn(fault=Status(401), times=0))
    hear = Listener()
    with pytest.raises(ModelError):
        await Runner.run(Agent("A"), "go", run_config=hear.config())
    assert hear.events[-2:] == ["StopFailure", "SessionEnd"]
    assert hear.payloads[-2]["error"] == "authentication_failed"


async def test_a_session_is_named_and_resumed(serve: Serve) -> None:
    await serve(DONE)
    session, hear = TranscriptSession(), Listener()
    for _ in range(2):
        await Runner.run(Agent("A"), "go", session=session, run_config=hear.config())
    starts = [each for each in hear.payloads if each["hook_event_name"] == "SessionStart"]
    assert [each["source"] for each in starts] == ["startup", "resume"]
    assert {each["session_id"] for each in hear.payloads} == {session.session_id}
    assert starts[0]["transcript_path"] == str(session.path)


async def test_commands_of_the_settings_are_hooks_of_runs(
    serve: Serve, fresh_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    server = await serve(DONE)
    script = fresh_home / "hook.py"
    script.write_text(
        "import json, sys\n"
        "prompt = json.load(sys.stdin)['prompt']\n"
        "print(json.dumps({'systemMessage': 'seen ' + prompt, 'hookSpecificOutput': {\n"
        "  'hookEventName': 'UserPromptSubmit', 'additionalContext': 'Be short.'}}))\n"
    )
    command = {"type": "command", "command": shlex.join([sys.executable, str(script)])}
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [command]}]}}))
    with caplog.at_level(logging.INFO, "agent.library"):
        await Runner.run(Agent("A"), "go")
    assert "Be short." in str(server.requests[0].body["messages"])
    assert "seen go" in caplog.text


async def test_a_permission_hook_answers_for_a_rule_that_asks(serve: Serve) -> None:
    await serve(Turn((ToolCall("look", {}),)), DONE)

    async def refuse(_payload: Payload) -> Payload:
        decision = {"behavior": "deny", "message": "not this one"}
        output = {"hookEventName": "PermissionRequest", "decision": decision}
        return {"hookSpecificOutput": output}

    gate = program_gate(ask=["look"], hooks={"PermissionRequest": [refuse]})
    config = RunConfig(permissions=gate)
    result = await Runner.run(Agent("A", tools=[look]), "go", run_config=config)
    assert not result.interruptions
    assert "not this one" in str(result.to_input_list())
