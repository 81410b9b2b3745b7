"""Rules are checked before they are stored."""

from __future__ import annotations

from pathlib import Path

from permissions.lint.lint import LintType, lint, lint_new
from permissions.lint.load_notices import rule_notes
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
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


def rules_of(behavior: RuleBehavior, *texts: str) -> RuleSet:
    return RuleSet.build([RuleText(text, behavior, RuleSource.PROJECT) for text in texts])[0]


def test_a_deny_on_write_alone_is_reported_unless_edits_are_denied_too() -> None:
    (warning,) = lint(rules_of(RuleBehavior.DENY, "Write(**/*secret*)"))
    assert warning.type is LintType.ONE_TOOL_ONLY
    assert warning.fix == "write Edit(**/*secret*), which covers every change"
    assert not lint(rules_of(RuleBehavior.DENY, "Write(**/*secret*)", "Edit(**/*secret*)"))
    assert not lint(rules_of(RuleBehavior.ALLOW, "Write(src/**)"))


def test_a_wildcard_of_prefixes_inside_a_rule_is_reported_for_every_behavior() -> None:
    for behavior in RuleBehavior:
        for text in ("Bash(find . :* -delete)", "Bash(git:* push)"):
            (warning,) = lint(rules_of(behavior, text))
            assert warning.type is LintType.UNREACHABLE, text
            assert warning.fix in ("write Bash(find . * -delete)", "write Bash(git * push)")
        assert not lint(rules_of(behavior, "Bash(npm run test:* --ci)"))


def test_a_rule_of_many_lines_is_one_line_of_a_notice() -> None:
    rules, _ = RuleSet.build(
        [RuleText("Bash(cat <<EOF\na\nb\nEOF\n)", RuleBehavior.ALLOW, RuleSource.LOCAL)]
    )
    (notice,) = rule_notes(rules)
    assert notice.startswith("Rule Bash(cat <<EOF … (")
    assert "the rule contains a line break; it is ignored" in notice
    assert "\n" not in notice


def test_a_question_in_a_notice_has_no_second_end() -> None:
    (notice,) = rule_notes(rules_of(RuleBehavior.ALLOW, "bash(ls)"))
    assert notice.endswith("did you mean Bash? To fix it: write Bash(ls), or remove the rule.")


def test_many_unreadable_rules_are_counted_in_the_notices() -> None:
    texts = [f"{name}:*" for name in ("Bash", "Edit", "Read", "Write", "Grep")]
    notices = rule_notes(rules_of(RuleBehavior.ALLOW, *texts))
    assert [notice.partition(" (")[0] for notice in notices[:3]] == [
        "Rule Bash:*",
        "Rule Edit:*",
        "Rule Read:*",
    ]
    assert notices[3:] == (
        "2 more rules cannot be read: `agent-tui permissions lint` says which, and why.",
    )
    assert len(rule_notes(rules_of(RuleBehavior.ALLOW, *texts[:4]))) == 4
