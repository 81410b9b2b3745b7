"""Lines that ask whether a hook would fire."""

from __future__ import annotations

import pytest

from hooks.cli.dry_run import payload_of
from hooks.cli.payload_from_json import PayloadError
from tests.hooks.conftest import Place


@pytest.mark.parametrize(
    ("text", "event", "fields"),
    [
        (
            "Bash(rm -rf out)",
            "PreToolUse",
            {"tool_name": "Bash", "tool_input": {"command": "rm -rf out"}},
        ),
        ("git push", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "git push"}}),
        ("mcp__github__search", "PreToolUse", {"tool_name": "mcp__github__search"}),
        (
            "PostToolUse Write(src/a.ts)",
            "PostToolUse",
            {"tool_name": "Write", "tool_input": {"file_path": "src/a.ts"}},
        ),
        ("SessionStart resume", "SessionStart", {"source": "resume"}),
        ("SessionStart", "SessionStart", {"source": "startup"}),
        ("Notification idle_prompt", "Notification", {"notification_type": "idle_prompt"}),
        ("Stop", "Stop", {}),
    ],
)
def test_a_line_is_a_payload(text: str, event: str, fields: dict[str, object]) -> None:
    payload = payload_of(text)
    assert payload.event_name == event
    assert fields.items() <= payload.to_json().items()


def test_a_tool_event_needs_a_call() -> None:
    with pytest.raises(PayloadError, match="name one"):
        payload_of("PreToolUse")


async def test_every_handler_gives_a_decision_and_a_reason(place: Place) -> None:
    guard = {"type": "command", "command": "exit 2", "if": "Bash(rm *)"}
    runner = place.runner("PreToolUse", guard, "true", matcher="Bash")
    judged = runner.would_fire(payload_of("Bash(ls)"))
    assert [(s.fires, s.why) for s in judged] == [
        (False, "`if` Bash(rm *) does not apply"),
        (True, "matches"),
    ]
    assert runner.stats(judged[1].spec).fire_count == 0
