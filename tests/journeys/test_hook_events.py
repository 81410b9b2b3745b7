"""Events and answers of hooks beyond the usual ones, in whole conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.model.scripted.scenario import Text, ToolCall, Turn, When
from permissions.mode import Mode
from tests.journeys.conftest import Begin

DONE = Turn((Text("Done."),))


def configure(home: Path, hooks: Mapping[str, str], **settings: Any) -> None:
    """Put one command per event into the person's settings."""
    path = home / ".agent" / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    groups = {
        event: [{"hooks": [{"type": "command", "command": command}]}]
        for event, command in hooks.items()
    }
    path.write_text(json.dumps({"hooks": groups, **settings}))


def answer(event: str, **fields: object) -> str:
    """A command that answers with these fields of its event."""
    text = json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})
    return f"echo '{text}'"


def log_to(log: Path) -> str:
    return f"cat >> '{log}'; echo >> '{log}'"


def heard(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines() if line]


def bash(command: str) -> Turn:
    return Turn((ToolCall("Bash", {"command": command}),))


def by(model: str, turn: Turn) -> Turn:
    return replace(turn, when=When(model=model))


async def test_the_classifier_sees_what_hooks_note_and_a_denied_call_may_be_tried_again(
    begin: Begin, fresh_home: Path
) -> None:
    hooks = {
        "PostToolUse": answer("PostToolUse", classifierContext="the tests have passed"),
        "PermissionDenied": answer("PermissionDenied", retry=True),
    }
    configure(fresh_home, hooks, autoMode={"enabled": True})
    no = Turn((Text(json.dumps({"decision": "deny", "reason": "why now"})),))
    turns = [
        by("haiku", no),
        by("opus", Turn((ToolCall("Glob", {"pattern": "*"}),))),
        by("opus", bash("touch made")),
        by("opus", DONE),
    ]
    journey = await begin(turns, answers=[None])
    journey.conversation.gate.set_mode(Mode.AUTO)

    await journey.send("look, then make a file")

    question = next(r.body for r in journey.server.requests if "haiku" in r.body["model"])
    shown = json.loads(question["messages"][0]["content"][0]["text"])
    assert shown["notes_of_hooks"] == ["the tests have passed"]
    assert "A hook says that you may try this call again." in str(journey.last_messages()[-1])
