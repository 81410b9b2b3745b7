"""Git inside the sandbox changes all that it should or nothing: never half a checkout."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agent.sandbox.policy import GIT_STOPPED, GIT_UNKNOWN
from permissions.confinement import Confinement
from permissions.shell.programs.git.tree_changes import patches
from tests.agent.tools.conftest import Bench
from tests.agent.tools.test_bash_confined import _run, confined
from tests.agent.tools.test_protected_checkout import _git, _repository

__all__ = ["confined"]

_WHO = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b"
_PATCH = "git diff main other > $TMPDIR/p; git format-patch -q --stdout main..other > $TMPDIR/m; "

# `$x` is what the analysis of the text does not know: it is looked at when git starts.
STOPPED = {
    "checkout": "x=other; git checkout $x",
    "new branch": "x=other; git checkout -b new $x",
    "switch": "x=other; git switch $x",
    "branch of a remote": "x=far; git switch $x",
    "path": "x=other; git checkout $x -- .",
    "restore": "x=other; git restore --source=$x .",
    "restore short": "x=other; git restore -s $x -- .npmrc a",
    "reset": "x=other; git reset --hard $x",
    "read-tree": "x=other; git read-tree -u -m HEAD $x",
    "merge": "x=other; git merge $x",
    "octopus": "x=other; git merge plain $x",
    "rebase": "x=other; git rebase $x",
    "onto": "x=other; git rebase --onto $x main plain",
    "pick": "x=other; git cherry-pick $x",
    "picks": "x=other; git cherry-pick plain $x",
    "range": "x=main..other; git cherry-pick $x",
    "am": _PATCH + "git am $TMPDIR/m",
    "am stdin": _PATCH + "git am < $TMPDIR/m",
    "apply": _PATCH + "git apply $TMPDIR/p",
    "apply pipe": _PATCH + "cat $TMPDIR/p | git apply --index",
    "directory": "x=other; cd /; git -C $OLDPWD checkout $x",
    "git-dir": "x=other; git --git-dir=$PWD/.git --work-tree=$PWD checkout $x",
    "settings": "x=other; git -c advice.detachedHead=false checkout $x",
    "alias": "x=other; git -c alias.co='checkout -q' co $x",
    "script": "printf 'git checkout other' > s.sh; sh s.sh",
    "make": "printf 'all:\\n\\tgit checkout other\\n' > Makefile; make",
    "Python": "python3 -c 'import os; os.execlp(\"git\", \"git\", \"checkout\", \"oth\" + \"er\")'",
    "path of the program": "x=other; /usr/bin/git checkout $x",
    "exec path": "x=other; $(git --exec-path)/git checkout $x",
    "pull": "git pull -q ./far other",
    "pull rebase": "git pull -q --rebase ./far other",
    "fetch and merge": "git fetch -q ./far other && git merge FETCH_HEAD",
    "fetch and reset": "git fetch -q ./far other && git reset --hard FETCH_HEAD",
    "bisect": "x=later; git bisect start $x main",
    "many": "for x in d e f g h i j other; do git checkout -q $x || exit 1; done",
}  # fmt: skip
RUN = {
    "checkout": "x=plain; git checkout -q $x && test -f b",
    "path": "echo changed > a; x=a; git checkout -q $x && test \"$(cat a)\" = a",
    "pull": "git pull -q ./far plain && test -f b",
    "worktree": "x=other; git worktree add -q made $x && test -f made/.npmrc",
    "clone": "git clone -q . made 2>/dev/null && git -C made checkout -q other",
    "elsewhere": "git clone -q . $TMPDIR/made && git -C $TMPDIR/made checkout -q origin/other",
    "stash": "echo changed > a; x=stash; git $x -q && git stash pop -q && grep -q changed a",
    "rebase": "git switch -q plain && x=main; git rebase -q $x",
    "nothing of that name": "x=nothing; git checkout $x 2>/dev/null || test $? = 1",
    "patch": "git diff main plain > $TMPDIR/p; cat $TMPDIR/p | git apply && test -f b",
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository, and another inside with the same branches; made once."""
    root = tmp_path_factory.mktemp("made")
    _repository(root)
    far = root / "far"
    subprocess.run(["git", "clone", "-q", "--mirror", root, far / ".git"], check=True)
    _git(root, "update-ref", "refs/remotes/origin/far", "other")
    _git(root, "remote", "add", "origin", "./far")
    later = "other"
    for _ in range(3):
        later = _git(root, "commit-tree", "-m", "l", "-p", later, "other^{tree}").strip()
    _git(root, "branch", "later", later)
    for name in "defghij":
        _git(root, "branch", name, "main")
    return root


@pytest.fixture
def here(confined: Bench, made: Path) -> Bench:
    """The bench in a copy of it."""
    shutil.copytree(made, confined.root, dirs_exist_ok=True)
    return confined


@pytest.mark.parametrize("name", STOPPED)
async def test_git_stops_before_it_changes_anything(here: Bench, name: str) -> None:
    outcome = await _run(here, f"{_WHO}; {STOPPED[name]}", Confinement.PROJECT_FILES)
    assert outcome.is_error
    stopped = [one for one in outcome.refusals if one.rule == GIT_STOPPED]
    assert str(here.root / ".npmrc") in [one.target for one in stopped], outcome.content
    status = _git(here.root, "status", "--porcelain", "--untracked-files=no")
    assert status == ""
    assert not (here.root / ".npmrc").exists()
    assert not (here.root / "c").exists()


@pytest.mark.parametrize("name", RUN)
async def test_git_runs_where_it_can_write_all_of_it(here: Bench, name: str) -> None:
    outcome = await _run(here, f"{_WHO}; {RUN[name]}", Confinement.PROJECT_FILES)
    assert not outcome.is_error, outcome.content
    assert "git was not run" not in str(outcome.content)


async def test_a_stop_is_reported_whatever_the_command_makes_of_it(here: Bench) -> None:
    outcome = await _run(here, "x=other; git merge $x || true", Confinement.PROJECT_FILES)
    assert [one.rule for one in outcome.refusals] == [GIT_STOPPED, GIT_STOPPED]


async def test_files_that_are_hidden_or_read_only_count_as_protected(here: Bench) -> None:
    """Known by their mounts: no list of names says it."""
    (here.root / ".npmrc").write_text("mine")
    _git(here.root, "add", "-f", ".npmrc")
    _git(here.root, "-c", "core.hooksPath=/dev/null", "commit", "-qm", "npmrc")
    outcome = await _run(here, "x=plain; git checkout $x", Confinement.PROJECT)
    assert "git was not run" in str(outcome.content)
    assert (here.root / ".npmrc").read_text() == "mine"
    assert not (here.root / "b").exists()


async def test_what_cannot_be_compared_is_not_run(here: Bench) -> None:
    """A failed comparison does not count as no change."""
    tree = _git(here.root, "rev-parse", "other^{tree}").strip()
    (here.root / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    outcome = await _run(here, "x=other; git switch $x", Confinement.PROJECT_FILES)
    assert outcome.is_error
    assert _git(here.root, "branch", "--show-current") == "main\n"
    assert _git(here.root, "status", "--porcelain", "--untracked-files=no") == ""


async def test_a_first_pull_into_nothing_is_not_run(confined: Bench) -> None:
    _git(confined.root, "init", "-q")
    outcome = await _run(confined, "git pull ./far other", Confinement.PROJECT_FILES)
    assert [one.rule for one in outcome.refusals] == [GIT_UNKNOWN]


async def test_a_rebase_continues_only_if_the_rest_can_be_written(here: Bench) -> None:
    root = here.root
    _git(root, "switch", "-qc", "mine", "main")
    for name, text in (("b", "mine"), (".npmrc", "mine")):
        Path(root, name).write_text(text)
        _git(root, "add", "-f", name)
        _git(root, "commit", "-qm", name)
    with pytest.raises(subprocess.CalledProcessError):
        _git(root, "rebase", "plain")
    (root / "b").write_text("both")
    _git(root, "add", "b")
    for word in ("--continue", "--abort", "--skip"):
        outcome = await _run(here, f"{_WHO}; git rebase {word}", Confinement.PROJECT_FILES)
        assert outcome.is_error
        assert (root / "b").read_text() == "both"
        assert not (root / ".npmrc").exists()


async def test_a_git_of_the_project_is_never_started_to_look(here: Bench) -> None:
    program = here.root / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {here.root.parent}/ran\n")
    program.chmod(0o755)
    linked = here.root.parent / "linked"
    linked.mkdir()
    (linked / "git").symlink_to(program)
    env = here.services.env
    here.services.env = {**env, "PATH": f"{program.parent}:{linked}:{env['PATH']}"}
    await _run(here, "cd far; true", Confinement.PROJECT)
    await _run(here, "true", Confinement.PROJECT)
    assert not (here.root.parent / "ran").exists()


def test_patches_that_wait_are_named(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    waiting = tmp_path / ".git" / "rebase-apply"
    waiting.mkdir()
    for name in ("0001", "0002", "next", "patch"):
        (waiting / name).touch()

    def ask(arguments: tuple[str, ...], _: bytes) -> bytes:
        return _git(tmp_path, *arguments).encode()

    assert {*patches("am", ["--continue"], ask)} == {str(waiting / "0001"), str(waiting / "0002")}
    shutil.rmtree(waiting)
    assert patches("am", ["--skip"], ask) == ()
