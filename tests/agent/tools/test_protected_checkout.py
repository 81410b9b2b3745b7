"""Git that would change protected names is asked about before it runs: never half a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from agent.tools.shell.protected_checkout import protected_changes
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined
from permissions.confinement import Confinement
from tests.agent.tools.conftest import Bench
from tests.agent.tools.test_bash_confined import _run, confined

__all__ = ["confined"]


def _git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    ended = subprocess.run(["git", "-C", root, *who, *words], capture_output=True, check=True)
    return ended.stdout.decode()


def _repository(root: Path) -> None:
    """Two branches: `other` brings protected names, `plain` does not."""
    _git(root, "init", "-q")
    (root / "a").write_text("a")
    _git(root, "add", ".")
    _git(root, "commit", "-qm", "a")
    for branch, files in (("plain", ["b"]), ("other", [".npmrc", "sub/.vscode/tasks.json", "c"])):
        _git(root, "switch", "-qc", branch, "main")
        for name in files:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x")
        _git(root, "add", "-f", ".")
        _git(root, "commit", "-qm", branch)
    _git(root, "switch", "-q", "main")


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all that only look."""
    root = tmp_path_factory.mktemp("repository")
    _repository(root)
    return root


ASKED = [
    "git checkout other", "git switch other", "git merge other", "git rebase other",
    "git reset --hard other", "git cherry-pick other", "cd . && git checkout -q other | cat",
    "bash -c 'git checkout other'", "git checkout -b new other", "timeout 9 git merge --ff other",
]  # fmt: skip
UNASKED = [
    "git checkout plain", "git merge plain", "git status", "git checkout -- a", "git stash",
    "git checkout -b new", "git log other", "echo git checkout", "git fetch", "git commit -m other",
]  # fmt: skip


@pytest.mark.parametrize("command", ASKED + UNASKED)
async def test_what_git_would_change_is_known_before(command: str, repository: Path) -> None:
    programs = ReadingPrograms({"PATH": "/usr/bin:/bin"}, repository / "no", launch_unconfined)
    found = await protected_changes(command, repository, repository, programs)
    wanted = [".npmrc", "sub/.vscode/tasks.json"] if command in ASKED else []
    assert [one.target for one in found] == [str(repository / name) for name in wanted]


@pytest.mark.parametrize("confinement", [Confinement.PROJECT, Confinement.PROJECT_FILES])
async def test_nothing_of_it_is_run(confined: Bench, confinement: Confinement) -> None:
    _repository(confined.root)
    outcome = await _run(confined, "echo x > made; git checkout other", confinement)
    assert outcome.is_error
    assert [Path(one.target).name for one in outcome.refusals] == [".npmrc", "tasks.json"]
    assert not (confined.root / "made").exists()
    assert _git(confined.root, "status", "--porcelain") == ""
    assert _git(confined.root, "branch", "--show-current") == "main\n"


async def test_it_runs_where_nothing_protected_changes_or_the_user_said_yes(
    confined: Bench,
) -> None:
    _repository(confined.root)
    outcome = await _run(confined, "git checkout -q plain", Confinement.PROJECT_FILES)
    assert not outcome.is_error, outcome.content
    outcome = await _run(confined, "git checkout -q other", Confinement.NONE)
    assert not outcome.is_error, outcome.content
    assert (confined.root / ".npmrc").exists()
    assert _git(confined.root, "status", "--porcelain") == ""
