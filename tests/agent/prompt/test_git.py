"""Looking at a repository without running what it names."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.orchestration.cluster.agent_queue import QueueError
from agent.orchestration.cluster.repository_commit import repository_commit
from agent.prompt.git import read_branch, read_git_state
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


def programs(root: Path, env: Mapping[str, str]) -> ReadingPrograms:
    return ReadingPrograms(env, root, launch_unconfined)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    def git(*arguments: str) -> None:
        names = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "-b", "feature/ä")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-qm", "first commit")
    (tmp_path / "a").write_text("2")
    (tmp_path / "new file").write_text("x")
    return tmp_path


async def test_branch_changes_and_commits_are_read(repository: Path) -> None:
    state = await read_git_state(repository, programs(repository, os.environ))
    assert state is not None
    assert (state.branch, state.changed_count) == ("feature/ä", 2)
    assert state.status_lines == (" M a", '?? "new file"')
    assert state.head.endswith(" first commit")
    assert read_branch(repository) == "feature/ä"


async def test_monitors_and_hooks_of_the_repository_do_not_run(repository: Path) -> None:
    marker = repository.parent / "ran"
    script = repository.parent / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    script.chmod(0o755)
    with (repository / ".git" / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {script}\n\tpager = {script}\n")
    assert await read_git_state(repository, programs(repository, os.environ)) is not None
    assert not marker.exists()


async def test_programs_of_a_submodule_do_not_run(repository: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=repository, check=True, capture_output=True)

    marker = tmp_path / "marker"
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "sub")
    config = repository / ".git" / "modules" / "sub"
    git("config", "-f", str(config / "config"), "filter.x.clean", f"touch {marker}; cat")
    (config / "info" / "attributes").write_text("* filter=x\n")
    os.utime(repository / "sub" / "a", (1, 1))
    state = await read_git_state(repository, programs(repository, os.environ))
    assert state is not None
    with contextlib.suppress(QueueError):
        await repository_commit(repository)
    assert not marker.exists()
    git("status")
    assert marker.exists(), "the attack works"


async def test_outside_a_repository_there_is_nothing(tmp_path: Path) -> None:
    assert await read_git_state(tmp_path, programs(tmp_path, {"PATH": "/usr/bin:/bin"})) is None
    assert await read_git_state(tmp_path, programs(tmp_path, {"PATH": ""})) is None
    assert read_branch(tmp_path) is None


def test_a_detached_or_damaged_head_has_no_branch(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    for content in (b"0123456789abcdef\n", b"\xff\xfe", b""):
        (tmp_path / ".git" / "HEAD").write_bytes(content)
        assert read_branch(tmp_path) is None
