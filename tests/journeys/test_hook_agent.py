"""Agent hooks decide with a sub-agent of their own; shell files of hooks reach later commands."""

from __future__ import annotations

import json
from pathlib import Path

from agent.events import HookFinished
from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn, When
from tests.journeys.conftest import Begin, results, terminal

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
