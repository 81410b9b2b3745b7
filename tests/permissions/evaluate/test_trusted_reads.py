"""What a server calls reading runs unasked only where the user trusts the server with that."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import evaluate_parts
from permissions.evaluate.hook_step import after_hooks
from permissions.grants.suggest import suggest
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_set import RuleSet


def _context(root: Path, mode: Mode, *texts: RuleText) -> PermissionContext:
    return PermissionContext(
        mode=mode,
        rules=RuleSet.build(texts)[0],
        launch_dir=root,
        project_root=root,
        home=root / "home",
        bypass_available=True,
    )


def _decided(root: Path, tool: str, *, is_trusted: bool, deny: str = "") -> Behavior:
    texts = [RuleText(deny, RuleBehavior.DENY, RuleSource.USER)] if deny else []
    request = PermissionRequest(tool, {}, is_trusted_read=is_trusted)
    return evaluate_parts(request, _context(root, Mode.DEFAULT, *texts)).decision.behavior


@pytest.mark.parametrize(
    ("tool", "is_trusted", "deny", "behavior"),
    [
        ("mcp__files__read", False, "", Behavior.ASK),
        ("mcp__files__read", True, "", Behavior.ALLOW),
        ("mcp__files__read", True, "mcp__files", Behavior.DENY),
        ("WebFetch", True, "", Behavior.ASK),
    ],
)
def test_trust_lifts_the_question_and_no_rule(
    tmp_path: Path, tool: str, is_trusted: bool, deny: str, behavior: Behavior
) -> None:
    assert _decided(tmp_path, tool, is_trusted=is_trusted, deny=deny) is behavior


@pytest.mark.parametrize(
    ("mode", "behavior"),
    [
        (Mode.DEFAULT, Behavior.ASK),
        (Mode.ACCEPT_EDITS, Behavior.ASK),
        (Mode.BYPASS, Behavior.ASK),
        (Mode.PLAN, Behavior.ASK),
        (Mode.DONT_ASK, Behavior.DENY),
    ],
)
def test_a_tool_that_wants_its_user_is_asked_about_whatever_a_rule_allows(
    tmp_path: Path, mode: Mode, behavior: Behavior
) -> None:
    allow = RuleText("mcp__bank", RuleBehavior.ALLOW, RuleSource.USER)
    request = PermissionRequest("mcp__bank__pay", {}, is_trusted_read=True, wants_user=True)
    evaluation = evaluate_parts(request, _context(tmp_path, mode, allow))
    assert evaluation.decision.behavior is behavior
    assert after_hooks(evaluation.decision, "allow", "", "a hook").behavior is behavior
    assert suggest(evaluation, evaluation.decision) == ()
