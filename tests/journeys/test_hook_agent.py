"""Agent hooks decide with a sub-agent of their own; shell files of hooks reach later commands."""

from __future__ import annotations

import json
from pathlib import Path

from agent.events import HookFinished
from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn, When
from agent.model.scripted.server import ScriptedServer
from permissions.mode import Mode
from tests.journeys.conftest import Begin, results, terminal
from tests.journeys.program import environment, run

HOOK_AGENT = When(has_tool="StructuredOutput")


def settings(home: Path, hooks: dict[str, object]) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    (home / ".agent" / "settings.json").write_text(json.dumps({"hooks": hooks}))


async def test_an_agent_hook_reads_and_denies(begin: Begin, fresh_home: Path) -> None:
    hook = {"type": "agent", "prompt": "Is RULES.txt fine with this? $ARGUMENTS"}
    settings(fresh_home, {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]})
    verdict = ToolCall("StructuredOutput", {"ok": False, "reason": "the rules say no"})
    scenario = Scenario(
        turns=(
            Turn((ToolCall("Read", {"file_path": "${cwd}/RULES.txt"}),), when=HOOK_AGENT),
            Turn((verdict,), when=HOOK_AGENT),
            Turn((ToolCall("Bash", {"command": "touch made"}),)),
            Turn((Text("I leave it."),), times=0),
        )
    )
    journey = await begin(scenario=scenario, allow=("Bash",))
    (journey.project / "RULES.txt").write_text("no touching\n")

    events = await journey.send("make it")

    assert terminal(events).reason == "completed"
    assert "the rules say no" in results(events)[-1].text
    assert not (journey.project / "made").exists()
    asked = [r for r in journey.server.requests if "StructuredOutput" in str(r.body["tools"])]
    assert len(asked) == 2
    assert "no touching" in str(asked[-1].body["messages"])


async def test_an_agent_hook_may_answer_in_words(begin: Begin, fresh_home: Path) -> None:
    hook = {"type": "agent", "prompt": "Is this fine? $ARGUMENTS"}
    settings(fresh_home, {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]})
    scenario = Scenario(
        turns=(
            Turn((Text('No: {"ok": false, "reason": "the rules say no"}'),), when=HOOK_AGENT),
            Turn((Text("I cannot tell."),), when=HOOK_AGENT),
            *[Turn((ToolCall("Bash", {"command": "touch made"}),))] * 2,
            Turn((Text("I leave it."),), times=0),
        )
    )
    journey = await begin(scenario=scenario, allow=("Bash",))
    events = await journey.send("make it")
    first, second = results(events)
    assert "the rules say no" in first.text
    assert not second.is_error
    notices = [text for e in events if isinstance(e, HookFinished) for text in e.notices]
    assert any("gave no answer within 50 turns" in text for text in notices)


async def test_an_agent_hook_runs_commands_under_permissions_of_its_own(
    begin: Begin, fresh_home: Path
) -> None:
    hook = {"type": "agent", "prompt": "Do the tests pass?"}
    settings(fresh_home, {"Stop": [{"hooks": [hook]}]})
    commands = ("cat RESULTS.txt", "mkdir allowed", "touch made")
    scenario = Scenario(
        turns=(
            *(Turn((ToolCall("Bash", {"command": c}),), when=HOOK_AGENT) for c in commands),
            Turn((ToolCall("StructuredOutput", {"ok": True}),), when=HOOK_AGENT),
            Turn((Text("Done."),), times=0),
        )
    )
    journey = await begin(scenario=scenario, allow=("Bash(mkdir allowed)",))
    (journey.project / "RESULTS.txt").write_text("3 passed\n")
    journey.conversation.gate.set_mode(Mode.ACCEPT_EDITS)
    events = await journey.send("test it")
    assert terminal(events).reason == "completed"
    assert (journey.project / "allowed").exists()
    assert not (journey.project / "made").exists()
    asked = [r for r in journey.server.requests if "StructuredOutput" in str(r.body["tools"])]
    assert "3 passed" in str(asked[-1].body["messages"])
    assert not journey.person.asked


async def test_a_shell_file_written_at_the_start_counts_for_commands(
    begin: Begin, fresh_home: Path
) -> None:
    command = 'echo "export GREETING=salut" >> "$CLAUDE_ENV_FILE"'
    hook = {"type": "command", "command": command}
    settings(fresh_home, {"SessionStart": [{"hooks": [hook]}]})
    journey = await begin(
        [Turn((ToolCall("Bash", {"command": "echo $GREETING"}),)), Turn((Text("ok"),))],
        allow=("Bash",),
    )
    events = await journey.send("greet")
    assert [e.event for e in events if isinstance(e, HookFinished)] == ["SessionStart"]
    assert "salut" in results(events)[0].text


async def test_hooks_run_asks_prompt_and_agent_hooks_at_the_configured_endpoint(
    tmp_path: Path, fresh_home: Path
) -> None:
    hooks = [
        {"type": "agent", "prompt": "Is RULES.txt fine with this?", "model": "sonnet"},
        {"type": "prompt", "prompt": "Is it polite?", "model": "haiku"},
    ]
    (tmp_path / "RULES.txt").write_text("no touching\n")
    (tmp_path / "s.json").write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": hooks}]}}))
    verdict = ToolCall("StructuredOutput", {"ok": False, "reason": "the rules say no"})
    scenario = Scenario(
        turns=(
            Turn((ToolCall("Read", {"file_path": "RULES.txt"}),), when=HOOK_AGENT),
            Turn((verdict,), when=HOOK_AGENT),
            Turn((Text('{"ok": true}'),), when=When(model="haiku")),
        )
    )
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "touch made"}})
    async with ScriptedServer(scenario) as server:
        status, out, err = await run(
            "hooks", "run", "PreToolUse", "--settings", "s.json",
            cwd=tmp_path, env=environment(fresh_home, server.base_url), stdin=payload,
        )  # fmt: skip
    assert status == 0, err
    line = json.loads(out)
    assert (line["decision"], line["reason"]) == ("deny", "the rules say no")
    assert [result["outcome"] for result in line["results"]] == ["blocking", "success"]
    assert {r.body["model"] for r in server.requests} == {"claude-sonnet-5-5", "claude-haiku-5-5"}
    assert "no touching" in str(server.requests[-1].body) + str(server.requests[-2].body)
    assert not (fresh_home / ".agent" / "sessions").exists()
