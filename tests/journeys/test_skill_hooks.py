"""Hooks in the head of a skill: in force from its first use, by the user or by the model."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.events import HookFinished, Notice
from agent.model.scripted.scenario import Text, ToolCall, Turn
from tests.journeys.conftest import Begin, results, yes

DONE = Turn((Text("Done."),))
TOUCH = Turn((ToolCall("Bash", {"command": "touch made"}),))
HEAD = """---
description: How to deploy
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - type: command
          command: "echo 'not while deploying' >&2; exit 2"
  Nonsense: []
---
Deploy.
"""


@pytest.fixture
def skill(fresh_home: Path) -> Path:
    path = fresh_home / ".agent" / "skills" / "deploy" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(HEAD)
    return path


@pytest.mark.usefixtures("skill")
async def test_hooks_of_a_skill_guard_from_its_first_use_to_the_end(begin: Begin) -> None:
    journey = await begin([TOUCH, replace(DONE, times=1), DONE, TOUCH, DONE], allow=("Bash",))
    before = await journey.send("touch it")
    assert [r.outcome for r in results(before)] == ["ok"]
    used = await journey.send("/deploy")
    assert any("Nonsense" in event.text for event in used if isinstance(event, Notice))
    after = await journey.send("touch it")
    assert [r.outcome for r in results(after)] == ["denied"]
    assert "not while deploying" in str(journey.last_messages())


@pytest.mark.usefixtures("skill")
async def test_a_skill_that_the_model_loads_brings_its_hooks_too(begin: Begin) -> None:
    load = Turn((ToolCall("Skill", {"skill": "deploy"}),))
    journey = await begin([load, load, TOUCH, DONE], answers=[yes(), yes()], allow=("Bash",))
    events = await journey.send("deploy")
    assert [r.outcome for r in results(events)] == ["ok", "ok", "denied"]
    fired = [e for e in events if isinstance(e, HookFinished) and e.event == "PreToolUse"]
    assert len(fired) == 1


async def test_a_changed_skill_brings_its_new_hooks(begin: Begin, skill: Path) -> None:
    journey = await begin([DONE, DONE, TOUCH, DONE], allow=("Bash",))
    await journey.send("/deploy")
    skill.write_text("---\ndescription: How to deploy\n---\nDeploy.\n")
    await journey.assembled.commands.custom.refresh()
    await journey.send("/deploy")
    events = await journey.send("touch it")
    assert [r.outcome for r in results(events)] == ["ok"]
