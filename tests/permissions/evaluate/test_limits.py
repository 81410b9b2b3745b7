"""A limit, a parse failure or an odd character never allows, and never softens a deny."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior, Reason
from permissions.mode import Mode
from tests.permissions.engine import Engine

NOT_UNDERSTOOD = {
    "more characters than are read": "true; " * 3_000 + "{}",
    "a quote is not closed": "{} 'x",
    "in a test that does not end": "if x; then {}",
    "after a control character": "echo \x01; {}",
    "behind an assignment": "$((  ; A=1 {}",
    "behind sudo": "$((  ; sudo -n {}",
    "by its path": "$((  ; /usr/bin/{}",
    "quoted": "$((  ; 'r'm -rf src",
    "in a subshell": "( {}",
    "behind an array that a word touches": "A=(x)1 true; {}",
    "one of very many": "a;" * 200_000 + "{}",
}


@pytest.mark.parametrize("text", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD.keys())
@pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.BYPASS])
def test_a_deny_rule_reaches_into_what_is_not_understood(
    engine: Engine, text: str, mode: Mode
) -> None:
    command = text.format("rm -rf src")
    rules = ["Bash", "Bash(*)", f"Bash({command[:40]}*)"]
    assert engine.bash(command, allow=rules, mode=mode).reason is Reason.UNPARSABLE
    assert engine.bash(command, allow=rules, mode=mode).behavior is Behavior.ASK
    denied = engine.bash(command, allow=rules, deny=["Bash(rm *)"], mode=mode)
    assert (denied.behavior, denied.reason) == (Behavior.DENY, Reason.DENY_RULE)


@pytest.mark.parametrize(
    "command",
    ["x" * 1_000_000, "$" * 50_000, "((" * 20_000, "'" * 9_999, "a=" * 40_000, "sudo -x " * 9_000],
    ids=lambda text: text[:3],
)
def test_a_huge_command_is_asked_about(engine: Engine, command: str) -> None:
    decision = engine.bash(command, allow=["Bash"], deny=["Bash(rm *)", "Bash(* --force *)"])
    assert decision.behavior is Behavior.ASK


@pytest.mark.parametrize(
    "command",
    [
        "ls " + "{" * 9_000,
        "ls " + "{," * 4_500,
        "touch " + "{1..60} " * 1_000,
        "touch " + "{a,b} " * 1_500,
    ],
)
def test_braces_that_give_too_much_are_asked_about(engine: Engine, command: str) -> None:
    assert engine.bash(command, allow=["Bash", "Edit"]).behavior is Behavior.ASK
