"""Sub-agents: a fresh history, the parent's rules and hooks, and only a report coming back."""

from __future__ import annotations

import json
from pathlib import Path

from agent.events import (
    AgentEvent,
    Compacted,
    PermissionRequested,
    Terminal,
    ToolProgress,
    ToolResult,
)
from agent.model.scripted.record import RecordedRequest
from agent.model.scripted.scenario import ModelInfo, Scenario, Text, ToolCall, Turn, When
from tests.journeys.conftest import Begin, results, terminal

INSIDE = When(system="You work for another agent")
OUTSIDE = When(has_tool="Agent")
ASK = ToolCall(
    "Agent",
    {"description": "look", "prompt": "Find the secret word.", "subagent_type": "general-purpose"},
)
DONE_INSIDE = Turn((Text("Reported."),), when=INSIDE)
DONE = Turn((Text("Thanks."),), when=OUTSIDE, times=0)


def scenario(*inside: Turn) -> Scenario:
    return Scenario(turns=(*inside, Turn((ASK,), when=OUTSIDE), DONE))


def inside(*parts: Text | ToolCall, times: int = 1) -> Turn:
    return Turn(parts, when=INSIDE, times=times)


async def test_only_the_report_comes_back(begin: Begin) -> None:
    read = ToolCall("Read", {"file_path": "${cwd}/word.txt"})
    journey = await begin(
        scenario=scenario(inside(Text("Looking."), read), inside(Text("The word is plum.")))
    )
    (journey.project / "word.txt").write_text("plum\n")

    events = await journey.send("delegate this")

    assert terminal(events).reason == "completed"
    report = next(r for r in results(events) if r.name == "Agent")
    assert "The word is plum." in report.text
    assert "Looking." not in str(journey.last_messages())
    first_inside = next(
        r for r in journey.server.requests if "another agent" in json.dumps(r.body["system"])
    )
    assert "delegate this" not in str(first_inside.body["messages"])
    names = {tool["name"] for tool in first_inside.body["tools"]}
    assert not names & {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "TodoWrite"}


async def test_what_is_appended_to_the_system_prompt_reaches_it(begin: Begin) -> None:
    journey = await begin(
        scenario=scenario(DONE_INSIDE),
        system_prompt="You are Ada.",
        append_system_prompt="Be kind.",
    )
    await journey.send("delegate this")
    own, delegated = (r.body["system"] for r in journey.server.requests[:2])
    assert own[0]["text"] == "You are Ada."
    assert str(journey.project) in own[1]["text"]
    assert own[-1]["text"] == "Be kind."
    assert "You work for another agent" in delegated[-1]["text"]
    assert delegated[-1]["text"].endswith("Be kind.")


async def test_a_directory_it_works_in_brings_its_instructions(begin: Begin) -> None:
    read = ToolCall("Read", {"file_path": "${cwd}/inner/word.txt"})
    journey = await begin(scenario=scenario(inside(read), inside(Text("plum"))))
    (journey.project / "inner").mkdir()
    (journey.project / "inner" / "word.txt").write_text("plum\n")
    (journey.project / "inner" / "AGENTS.md").write_text("Fruit is written in capitals.")

    await journey.send("delegate this")

    asked = [r for r in journey.server.requests if "another agent" in json.dumps(r.body["system"])]
    assert "capitals" not in json.dumps(asked[0].body["messages"])
    assert "capitals" in json.dumps(asked[1].body["messages"])


async def test_a_full_window_is_compacted_and_it_continues(begin: Begin) -> None:
    read = ToolCall("Read", {"file_path": "${cwd}/long.txt"})

    def respond(request: RecordedRequest) -> Turn | None:
        if "another agent" not in json.dumps(request.body["system"]):
            return None
        if "about to be compacted" in json.dumps(request.body["messages"][-1]):
            return Turn((Text("So far: the word is plum."),))
        results = json.dumps(request.body["messages"]).count("tool_result")
        return Turn((read,)) if results < 9 and "So far" not in str(request.body) else DONE_INSIDE

    models = (ModelInfo("claude-opus-5-5", max_input_tokens=60_000),)
    outside = Scenario(turns=(Turn((ASK,), when=OUTSIDE), DONE), models=models)
    journey = await begin(scenario=outside, respond=respond)
    (journey.project / "long.txt").write_text("all the words of a long file\n" * 1_500)

    events = await journey.send("delegate this")

    assert any(isinstance(event, Compacted) and event.agent_id for event in events)
    report = next(r for r in results(events) if r.name == "Agent")
    assert "Reported." in report.text
    assert "long file" not in str(journey.last_messages())


async def test_its_calls_are_asked_about_and_named(begin: Begin) -> None:
    touch = ToolCall("Bash", {"command": "touch made"})
    journey = await begin(scenario=scenario(inside(touch), inside(Text("Made."))))

    events = await journey.send("delegate this")

    asked = [event for event in events if isinstance(event, PermissionRequested)]
    assert [event.tool for event in asked] == ["Bash"]
    assert asked[0].agent_id is not None
    assert (journey.project / "made").exists()
    own, last = (e for e in events if isinstance(e, Terminal))
    assert (own.agent_id, last) == (asked[0].agent_id, events[-1])


async def test_a_hook_guards_sub_agents_too(begin: Begin, fresh_home: Path) -> None:
    log = fresh_home / "log.json"
    hook = {"type": "command", "command": f"cat > {log}; echo not here >&2; exit 2"}
    (fresh_home / ".agent").mkdir()
    (fresh_home / ".agent" / "settings.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    )
    touch = ToolCall("Bash", {"command": "touch made"})
    journey = await begin(scenario=scenario(inside(touch), inside(Text("Refused."))))

    events = await journey.send("delegate this")

    assert not (journey.project / "made").exists()
    payload = json.loads(log.read_text())
    assert payload["agent_type"] == "general-purpose"
    assert payload["agent_id"]
    bash = next(r for r in results(events) if r.name == "Bash")
    assert "not here" in bash.text


async def test_an_interrupt_ends_it_and_the_history_stays_valid(begin: Begin) -> None:
    sleep = ToolCall("Bash", {"command": "echo started; sleep 600"})
    journey = await begin(scenario=scenario(inside(sleep)))

    def interrupt(event: AgentEvent) -> None:
        if isinstance(event, ToolProgress) and "started" in event.text:
            journey.conversation.controls.interrupt()

    events = await journey.send("delegate this", interrupt)

    assert terminal(events).reason == "aborted_tools"
    agent = next(e for e in events if isinstance(e, ToolResult) and e.name == "Agent")
    assert agent.outcome == "interrupted"
    assert terminal(await journey.send("go on")).reason == "completed"


async def test_it_has_a_turn_limit_of_its_own(begin: Begin) -> None:
    look = ToolCall("Glob", {"pattern": "*"})
    journey = await begin(scenario=scenario(inside(look, times=0)))
    events = await journey.send("delegate this")
    assert terminal(events).reason == "completed"
    inside_requests = [
        r for r in journey.server.requests if "You work for another agent" in str(r.body["system"])
    ]
    assert len(inside_requests) == 51  # fifty with calls, and the one after
