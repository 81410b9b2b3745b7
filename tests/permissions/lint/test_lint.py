"""Rules are checked before they are stored."""

from __future__ import annotations

from pathlib import Path

from permissions.lint.lint import LintType, lint_new
from permissions.rule import RuleBehavior, RuleSource, RuleText
from tests.permissions.engine import make_engine


def test_a_rule_that_can_never_apply_is_found_before_it_is_stored(tmp_path: Path) -> None:
    rules = make_engine(tmp_path).context(deny=["Bash(git *)"]).rules
    new = RuleText("Bash(git push)", RuleBehavior.ALLOW, RuleSource.LOCAL)
    (warning,) = lint_new(rules, [new])
    assert (warning.type, warning.rule) == (LintType.DENY_SHADOW, "Bash(git push)")
    assert warning.shadower == "Bash(git *)"
    assert warning.fix


def test_a_new_deny_rule_is_reported_with_the_allow_rules_it_ends(tmp_path: Path) -> None:
    rules = make_engine(tmp_path).context(allow=["Bash(git push)"]).rules
    new = RuleText("Bash(git *)", RuleBehavior.DENY, RuleSource.USER)
    (warning,) = lint_new(rules, [new])
    assert (warning.type, warning.rule) == (LintType.DENY_SHADOW, "Bash(git push)")
