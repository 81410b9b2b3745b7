"""PermissionRequest hooks in the race: what they may answer, and what only a user may."""

from __future__ import annotations

import json

import pytest

from hooks.answers.outcome import EventOutcome
from hooks.contender import HookContender
from permissions.decision import (
    Behavior,
    Decision,
    DecisionSource,
    GrantChoice,
    Reason,
    ReasonType,
)
from permissions.grants.suggest import Grant
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource
from tests.hooks.conftest import Place

REQUEST = PermissionRequest("Bash", {"command": "make"}, agent_id="sub-1", agent_type="worker")


def pending(reason: Reason = Reason.MODE_DEFAULT) -> Decision:
    return Decision(Behavior.ASK, DecisionSource.MODE, ReasonType.MODE, reason, "asks")


def answering(decision: dict[str, object]) -> str:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    return f"echo '{json.dumps(answer)}'"


ALLOW = answering({"behavior": "allow", "updatedInput": {"command": "make test"}})
DENY = answering({"behavior": "deny", "message": "not here", "interrupt": True})


@pytest.mark.parametrize(
    ("reason", "allowed"),
    [
        (Reason.MODE_DEFAULT, True),
        (Reason.ASK_RULE, True),
        (Reason.PROTECTED_PATH, False),
        (Reason.SCOPE_BOUNDS_VIOLATION, False),
        (Reason.UNPARSABLE, False),
        (Reason.UNKNOWN_TOOL, False),
        (Reason.WANTS_USER, False),
    ],
)
async def test_an_allow_counts_only_where_no_user_is_needed(
    place: Place, reason: Reason, allowed: bool
) -> None:
    contender = HookContender(place.runner("PermissionRequest", ALLOW))
    decision = await contender.decide(REQUEST, pending(reason))
    if not allowed:
        assert decision is None
        return
    assert decision is not None
    assert (decision.behavior, decision.source) == (Behavior.ALLOW, DecisionSource.HOOK)
    assert decision.updated_input == {"command": "make test"}
    assert decision.trace[-1].source == "project settings.json"


@pytest.mark.parametrize("reason", list(Reason))
async def test_a_deny_always_counts(place: Place, reason: Reason) -> None:
    contender = HookContender(place.runner("PermissionRequest", ALLOW, DENY))
    decision = await contender.decide(REQUEST, pending(reason))
    assert decision is not None
    assert decision.behavior is Behavior.DENY
    assert decision.message.startswith("hook 'echo ")
    assert decision.message.endswith("(project): not here")
    assert (decision.interrupt, decision.updated_input, decision.feedback) == (True, None, None)


async def test_no_opinion_and_the_payload_of_a_sub_agent(place: Place) -> None:
    heard: list[EventOutcome] = []
    runner = place.runner("PermissionRequest", "cat > seen; exit 2")
    contender = HookContender(runner, on_outcome=heard.append)
    assert await contender.decide(REQUEST, pending()) is None
    seen = json.loads((place.project / "seen").read_text())
    assert (seen["agent_id"], seen["tool_input"]) == ("sub-1", {"command": "make"})
    assert "tool_use_id" not in seen
    assert len(heard) == 1


async def test_rules_to_remember_go_both_ways(place: Place) -> None:
    updates = [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "make *"}, {"toolName": "WebSearch"}],
            "behavior": "allow",
            "destination": "localSettings",
        },
        {"type": "setMode", "mode": "bypassPermissions", "destination": "session"},
    ]
    answer = answering({"behavior": "allow", "updatedPermissions": updates})
    runner = place.runner("PermissionRequest", f"cat > seen; {answer}")
    heard: list[EventOutcome] = []
    offered = Grant(("Bash(make *)",), RuleBehavior.ALLOW, RuleSource.SESSION, "again")
    once = Grant((), RuleBehavior.ALLOW, None, "once")
    contender = HookContender(
        runner, on_outcome=heard.append, suggest=lambda request, pending: (once, offered)
    )
    decision = await contender.decide(REQUEST, pending())
    assert decision is not None
    assert decision.grant == GrantChoice(("Bash(make *)", "WebSearch"), "localSettings")
    assert heard[0].notices == ("updatedPermissions: 'setMode' is not supported for hooks",)
    assert json.loads((place.project / "seen").read_text())["permission_suggestions"] == [
        {
            "type": "addRules",
            "rules": [{"toolName": "Bash", "ruleContent": "make *"}],
            "behavior": "allow",
            "destination": "session",
        }
    ]


async def test_without_hooks_nothing_is_started(place: Place) -> None:
    assert await HookContender(place.runner("Stop", "true")).decide(REQUEST, pending()) is None
