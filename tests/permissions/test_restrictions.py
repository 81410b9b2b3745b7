"""What deny and ask rules reach although the command or the path is not written out."""

from __future__ import annotations

import pytest

from permissions.decision import Behavior
from tests.permissions.engine import Engine


@pytest.mark.parametrize(
    ("command", "deny"),
    [
        ("git push $EMPTY", "Bash(git push)"),
        ("git push $(true)", "Bash(git push)"),
        ("git push \"$(true)\"", "Bash(git push)"),
        ("git push <(true)", "Bash(git push)"),
        ("echo $SECRET", "Bash(echo $SECRET)"),
        ("cp src/a.py \"$X\"", "Edit"),
        ("cp src/a.py $X", "Edit(*)"),
        ("rm -rf $X", "Edit(//**)"),
        ("cp src/a.py b $X", "Edit(b)"),
        ("eval $X; touch ../b", "Bash(nothing)"),
        ("cd a; cd b; cd c; cd d; touch ../../b", "Bash(nothing)"),
        ("while eval $X; do touch ../b; done", "Bash(nothing)"),
    ],
)  # fmt: skip
def test_a_deny_holds(engine: Engine, command: str, deny: str) -> None:
    assert engine.bash(command, allow=["Bash", "Edit"], deny=[deny]).behavior is Behavior.DENY


@pytest.mark.parametrize(
    "command", ["git push origin", "git push -n", "git pushx $X", "echo git push"]
)
def test_an_exact_deny_leaves_other_commands_alone(engine: Engine, command: str) -> None:
    decision = engine.bash(command, allow=["Bash(git *)", "Bash(echo *)"], deny=["Bash(git push)"])
    assert decision.behavior is Behavior.ALLOW


@pytest.mark.parametrize(
    ("rule", "path", "behavior"),
    [
        ("Edit(a.py)", "src/a.py", Behavior.ALLOW),
        ("Edit(./a.py)", "src/a.py", Behavior.ASK),
        ("Edit(/a.py)", "src/a.py", Behavior.ASK),
        ("Edit(//a.py)", "src/a.py", Behavior.ASK),
        ("Edit(~/a.py)", "src/a.py", Behavior.ASK),
        ("Edit(/**/a.py)", "src/a.py", Behavior.ASK),
    ],
)
def test_only_a_bare_name_in_an_allow_rule_fits_at_any_depth(
    engine: Engine, rule: str, path: str, behavior: Behavior
) -> None:
    # User rules anchor `/x` at the settings folder: from there no rule may reach the project.
    decision = engine.call("Edit", {"file_path": str(engine.root / path)}, allow=[rule])
    assert decision.behavior is behavior


@pytest.mark.parametrize("rule", ["Read(//secret.txt)", "Read(~/secret.txt)", "Read(//outside)"])
def test_an_anchored_name_does_not_open_files_elsewhere(engine: Engine, rule: str) -> None:
    outside = str(engine.root.parent / "outside" / "secret.txt")
    assert engine.call("Read", {"file_path": outside}, allow=[rule]).behavior is Behavior.ASK
