"""Whole folders that a command reads, held against rules about single files in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from permissions.confinement import Confinement
from permissions.context import SandboxState
from permissions.decision import Behavior
from permissions.mode import Mode
from tests.permissions.engine import FILES, FULL, NOTHING, Engine, make_engine

RULES = ["Read(.env)", "Read(keys/**)", "Read(./docs/private.md)", "Read(*.pem)"]


@pytest.fixture
def project(tmp_path: Path) -> Engine:
    engine = make_engine(tmp_path)
    for name in ("keys/a.pem", "docs/private.md", "docs/open.md", "src/b.py"):
        path = engine.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x\n")
    return engine


READ_ALL = [
    "grep -r x .", "grep -rn x", "grep -Rn x .", "grep --recursive x .", "grep -d recurse x .",
    "tar c .", "tar czf x.tgz .", "tar --create -f x.tar .", "cp -r . ../project/x", "cp -a . x",
    "zip -r x.zip .", "rsync -a . host:", "scp -r . host:", "diff -r . src", "rg -uu x",
    "rg --hidden x", "rg x", "find . -type f -exec cat {} +",
    'find . -name ".e*" -exec cat {} +', "cd sub && grep -r x ..", "time grep -r x .",
    'sh -c "grep -r x ."', "grep -r x docs", 'grep -rn --include=".*" x .', 'grep -r x "$PWD"',
    "echo x | xargs grep -r x .", "grep -r x src .", "find . -type f | xargs cat",
    "find . -maxdepth 1 -type f -print0 | xargs -0 grep x", "rg -g '.{env,x}' x",
]  # fmt: skip


@pytest.mark.parametrize("command", READ_ALL)
def test_a_directory_with_a_denied_file_is_asked_about(project: Engine, command: str) -> None:
    found = project.bash(command, allow=["Bash", "Edit"], deny=RULES, mode=Mode.BYPASS)
    assert found.behavior is not Behavior.ALLOW
    as_ask = project.bash(command, allow=["Bash", "Edit"], ask=RULES)
    assert as_ask.behavior is not Behavior.ALLOW


LEFT_OUT = [
    "grep -rn x src", "grep -n x src/a.py", "grep -rn --include=*.py x src sub", "rg x src",
    "tar czf x.tgz src", "cp -r src x", "rsync -a src host:", 'find . -name "*.py" -exec cat {} +',
    'find . -name "*.py"', "ls -R .", "git grep x", "rg --files", "tar tf x.tgz", "tar xzf x.tgz",
    'grep -rn --include="*.py" x .', "rg -t py x", "rg -g '*.py' x",
    "grep -rn --exclude=.env --exclude=*.pem --exclude-dir=keys --exclude=private.md x .",
    "tar czf x.tgz --exclude=.env --exclude=keys --exclude=*.md .", "cp .env.example x",
    "find . -name '*.py' | xargs grep -n x", "find src -type f | xargs cat", "rg -g '*.{py,js}' x",
]  # fmt: skip


@pytest.mark.parametrize("command", LEFT_OUT)
def test_what_is_left_out_is_not_asked_about(project: Engine, command: str) -> None:
    found = project.bash(command, allow=["Bash", "Edit"], deny=RULES)
    assert found.behavior is Behavior.ALLOW, found.message


def test_only_what_is_there_counts(project: Engine) -> None:
    rules = ["Read(.env.local)", "Read(./missing/**)", "Read(~/.ssh/**)", "Edit(.env)"]
    found = project.bash("grep -r x .", allow=["Bash"], deny=rules)
    assert found.behavior is Behavior.ALLOW, found.message


def test_the_reason_names_file_and_rule(project: Engine) -> None:
    found = project.bash("grep -r x .", deny=["Read(.env)"], mode=Mode.BYPASS)
    assert found.behavior is Behavior.ASK
    assert "where .env is" in found.message
    assert "Read(.env)" in found.message


def test_a_confined_command_does_not_find_what_a_rule_denies(project: Engine) -> None:
    """The kernel hides the file from it; not from a command that a user's exact rule lets run."""
    commands = ["grep -r x .", "ls && grep -r x ."]
    for command in commands:
        found = project.bash(command, allow=["Bash(grep *)", "Bash(ls *)"], deny=["Read(.env)"])
        assert found.confinement is Confinement.PROJECT_FILES, found.message
        beside = project.bash(command, allow=["Bash(grep *)", "Bash(ls)"], deny=["Read(.env)"])
        assert beside.confinement is Confinement.PROJECT_FILES, beside.message
        exact = project.bash(command, allow=["Bash(grep -r x .)"], deny=["Read(.env)"])
        assert exact.behavior is Behavior.ASK, exact.message
    asked = project.bash("npm x; grep -r x .", allow=["Bash(grep *)"], deny=["Read(.env)"])
    assert any("where .env is" in part.message for part in asked.parts)
    outside = ["grep -r x ../outside", "grep -r x .."]
    for command in outside:
        found = project.bash(command, allow=["Bash"], deny=["Read(secret.txt)"])
        assert found.behavior is Behavior.ASK, found.message


@pytest.mark.parametrize("sandbox", [FILES, NOTHING])
def test_where_nothing_hides_the_file_it_is_asked_about(
    project: Engine, sandbox: SandboxState
) -> None:
    found = project.bash("grep -r x .", allow=["Bash"], deny=["Read(.env)"], sandbox=sandbox)
    assert found.behavior is Behavior.ASK


NAMED_BY_INPUT = [
    "ls -a | xargs cat", "cat list | xargs -n1 head", "xargs -a list cat",
    "sort --files0-from=list", "wc --files0-from=- < list", "du --files0-from=list",
    "tar cf - -T list", "tar -c --files-from list",
]  # fmt: skip


@pytest.mark.parametrize("command", NAMED_BY_INPUT)
def test_files_that_a_list_names_are_asked_about_beside_a_rule(
    project: Engine, command: str
) -> None:
    """A list that the model wrote can name the denied file."""
    for sandbox in (NOTHING, FILES):
        found = project.bash(command, allow=["Bash", "Edit"], deny=RULES, sandbox=sandbox)
        assert found.behavior is Behavior.ASK, found.message
        found = project.bash(command, allow=["Bash", "Edit"], sandbox=sandbox)
        assert found.behavior is Behavior.ALLOW, found.message
    assert project.bash(command, allow=["Bash"], ask=RULES).behavior is Behavior.ASK
    confined = project.bash(command, allow=["Bash", "Edit"], deny=RULES)
    assert confined.confinement is Confinement.PROJECT_FILES


@pytest.mark.parametrize(
    "command",
    [
        "date -f .env", "date --file=.env", "date -uf .env", "git commit -t .env",
        "git commit --template=.env", "git add --pathspec-from-file=.env",
        "git reset --pathspec-from-file .env",
    ],
)  # fmt: skip
def test_a_file_that_an_option_reads_is_denied(project: Engine, command: str) -> None:
    for sandbox in (NOTHING, FULL):
        found = project.bash(command, allow=["Bash"], deny=["Read(.env)"], sandbox=sandbox)
        assert found.behavior is Behavior.DENY, found.message
