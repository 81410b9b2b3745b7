"""What a server calls reading runs unasked only where the user trusts the server with that."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.context import PermissionContext
from permissions.decision import Behavior
from permissions.evaluate.cascade import evaluate_parts
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSource, RuleText
from permissions.rules.rule_set import RuleSet


def _decided(root: Path, tool: str, *, is_trusted: bool, deny: str = "") -> Behavior:
    texts = [RuleText(deny, RuleBehavior.DENY, RuleSource.USER)] if deny else []
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet.build(texts)[0],
        launch_dir=root,
        project_root=root,
        home=root / "home",
    )
    request = PermissionRequest(tool, {}, is_trusted_read=is_trusted)
    return evaluate_parts(request, context).decision.behavior


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
