"""`sort *.py` where a file may be named `--compress-program=x`, and wrappers in rules."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior
from permissions.evaluate.read_only_classifier import decide_with_classifier
from permissions.lint.lint import LintType, lint
from permissions.mode import Mode
from permissions.request import PermissionRequest
from permissions.rule import RuleBehavior, RuleSet, RuleSource, RuleText
from tests.permissions.engine import Engine, make_engine

RULES = ["Bash(sort *)", "Bash(sed *)", "Bash(rg *)", "Bash(tar *)", "Bash(git *)", "Bash(touch *)"]
MORE = ["Bash(npm test)", "Bash(uniq *)", "Bash(xxd *)", "Bash(cat *)"]


@pytest.fixture
def plain(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """A project whose files have ordinary names."""
    engine = make_engine(tmp_path_factory.mktemp("plain"))
    for name in ("a.py", "b.py", "c.md"):
        (engine.root / name).write_text("text\n")
    for link in ("loop", "outlink", "dangling"):
        (engine.root / link).unlink()
    return engine


COMMANDS = [
    "sort *.py",
    "sort *",
    "sed -n 1p *.py",
    "rg x *.md",
    "git diff *.py",
    "sort *.py | cat",
    "cd src && sort *",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_pattern_gives_operands_where_every_name_is_plain(plain: Engine, command: str) -> None:
    rules = [*RULES, *MORE]
    assert plain.bash(command, allow=rules).behavior is Behavior.ALLOW
    place = plain.root / "src" if command.startswith("cd") else plain.root
    (place / "-oX.py").touch()
    assert plain.bash(command, allow=rules).behavior is Behavior.ASK


def test_find_deletes_nothing_for_a_file_named_like_its_action(plain: Engine) -> None:
    request = PermissionRequest("Bash", {"command": "find . -name *"})
    assert decide_with_classifier(request, plain.context()).behavior is Behavior.ALLOW
    (plain.root / "-delete").touch()
    assert decide_with_classifier(request, plain.context()).behavior is Behavior.ASK


@pytest.mark.parametrize(
    "command",
    [
        "touch ./-oX.py; sort *.py",
        "npm test && sort *.py",
        "cat a.py > ./-oX.py; sort *.py",
        "cd $X; sort *.py",
    ],
)
def test_a_name_that_may_come_to_exist_counts_as_an_option(plain: Engine, command: str) -> None:
    assert plain.bash(command, allow=[*RULES, *MORE]).behavior is Behavior.ASK


@pytest.mark.parametrize("command", ["uniq *.py", "xxd *.py", "uniq $X", "uniq a.py b.py"])
def test_a_second_operand_is_written(plain: Engine, command: str) -> None:
    request = PermissionRequest("Bash", {"command": command})
    found = decide_with_classifier(request, plain.context())
    assert found.behavior is Behavior.ASK


def test_accept_edits_knows_what_a_pattern_gives(plain: Engine) -> None:
    command = "sed -i s/a/b/ *.py"
    assert plain.bash(command, mode=Mode.ACCEPT_EDITS).behavior is Behavior.ALLOW
    (plain.root / "-e1e id.py").touch()
    assert plain.bash(command, mode=Mode.ACCEPT_EDITS).behavior is Behavior.ASK


@pytest.mark.parametrize("command", ["time (npm test)", "time (npm test) > /dev/null"])
def test_a_timed_subshell_is_judged_by_what_is_in_it(plain: Engine, command: str) -> None:
    assert plain.bash(command, allow=["Bash(npm test)"]).behavior is Behavior.ALLOW
    assert plain.bash(command, allow=["Bash(time *)"]).behavior is Behavior.ASK
    assert plain.bash(command, allow=["Bash"], deny=["Bash(npm *)"]).behavior is Behavior.DENY
    assert plain.bash(command, allow=["Bash"], deny=["Bash(time *)"]).behavior is Behavior.DENY


@pytest.mark.parametrize("rule", ["Bash(timeout *)", "Bash(timeout 5 *)", "Bash(nice -n 5 *)"])
def test_lint_says_that_a_rule_for_a_wrapper_allows_nothing_behind_it(
    plain: Engine, rule: str
) -> None:
    command = "timeout 5 npm test" if "timeout" in rule else "nice -n 5 npm test"
    assert plain.bash(command, allow=[rule]).behavior is Behavior.ASK
    given = [rule, "Bash(timeout 60 npm *)"]
    texts = [RuleText(text, RuleBehavior.ALLOW, RuleSource.USER) for text in given]
    found = [(one.type, one.rule) for one in lint(RuleSet.build(texts)[0])]
    assert found == [(LintType.UNREACHABLE, rule)]
    longer = plain.bash("timeout 60 npm test", allow=["Bash(timeout 60 npm *)"])
    assert longer.behavior is Behavior.ALLOW
