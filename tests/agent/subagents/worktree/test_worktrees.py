"""Git in the worktree of an agent runs as the user: nothing that the agent made there may run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agent.subagents.worktree.worktrees import WorktreeError, Worktrees

IDENTITY = {
    f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


class NoHooks:
    """A project without hooks of worktrees."""

    async def worktree_create(self, name: str) -> str | None:
        """Leave it to git."""
        return None

    async def worktree_remove(self, path: str) -> None:
        """Do nothing."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    for name, value in (("user.name", "a"), ("user.email", "a@b")):
        _git(directory, "init", "-q")
        _git(directory, "config", name, value)
    _git(directory, "commit", "-q", "--allow-empty", "-m", "a")
    return directory


def _git(directory: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=directory, check=True, env={**os.environ, **IDENTITY})


def _make_inner(tree: Path, trace: Path) -> None:
    """Make a repository that runs something when git looks at its changed files."""
    inner = tree / "inner"
    inner.mkdir()
    (inner / "f").write_text("x")
    _git(inner, "init", "-q")
    _git(inner, "add", "f")
    _git(inner, "commit", "-q", "-m", "a")
    (inner / ".gitattributes").write_text("* filter=x\n")
    _git(inner, "config", "filter.x.clean", f"echo ran >> {trace}; cat")
    os.utime(inner / "f", (0, 0))


async def test_a_repository_that_an_agent_made_is_not_entered(
    project: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "ran"
    worktrees = Worktrees(
        project,
        dict(os.environ),
        os.environ["PATH"],
        NoHooks(),
        is_trusted=lambda: True,
        may_be_scope=lambda _: True,
    )
    tree = await worktrees.create("one")
    _make_inner(tree.path, trace)
    (tree.path / "new").write_text("x")
    await worktrees._commit(tree, "the agent's")
    assert not (await worktrees.state(tree)).is_dirty
    (tree.path / "more").write_text("x")
    assert (await worktrees.state(tree)).is_dirty
    await worktrees._commit(tree, "the agent's")
    assert (await worktrees.state(tree)).ahead == 2
    assert not trace.exists()
    _git(tree.path, "status", "--porcelain")
    assert trace.exists(), "the attack itself has no effect here"


async def test_no_link_of_the_repository_is_written_through(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("own\n")
    exclude = project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    exclude.symlink_to(outside)
    worktrees = Worktrees(
        project,
        {**os.environ, **IDENTITY},
        os.environ["PATH"],
        NoHooks(),
        is_trusted=lambda: True,
        may_be_scope=lambda _: True,
    )
    await worktrees.create("agent")
    assert outside.read_text() == "own\n"
    assert "/.agent/worktrees/" in exclude.read_text()


async def test_a_pipe_in_the_place_of_the_exclude_file_is_an_error(project: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.unlink(missing_ok=True)
    os.mkfifo(exclude)
    worktrees = Worktrees(
        project,
        {**os.environ, **IDENTITY},
        os.environ["PATH"],
        NoHooks(),
        is_trusted=lambda: True,
        may_be_scope=lambda _: True,
    )
    with pytest.raises(WorktreeError, match="not a regular file"):
        await worktrees.create("agent")
