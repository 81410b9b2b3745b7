"""A command makes a repository the current one, in which hooks of the user start git."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from agent.tools.shell.entered_repository import entered_program
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("project/src/deep", "scratch"):
        (tmp_path / name).mkdir(parents=True)
    _make(tmp_path / "project", "echo own")
    return tmp_path


def _make(directory: Path, monitor: str = "") -> None:
    subprocess.run(["git", "init", "-q", str(directory)], check=True)
    if monitor:
        _set(directory, "core.fsmonitor", monitor)


def _set(directory: Path, name: str, value: str) -> None:
    subprocess.run(["git", "-C", str(directory), "config", name, value], check=True)


def _entered(root: Path, name: str, since_ns: int) -> str | None:
    return entered_program(
        root / name,
        launch_dir=root / "project" / "src",
        scratch_dir=root / "scratch",
        since_ns=since_ns,
        programs=ReadingPrograms(os.environ, root / "project", launch_unconfined),
    )


def test_a_new_repository_that_has_git_run_something_is_not_entered(root: Path) -> None:
    since_ns = time.time_ns()
    _make(root / "project" / "new", "echo evil")
    (root / "project" / "new" / "inside").mkdir()
    for name in ("project/new", "project/new/inside"):
        assert _entered(root, name, since_ns) == "git core.fsmonitor = echo evil"


def test_a_file_that_leads_to_a_repository_counts(root: Path) -> None:
    _make(root / "project" / "old", "echo evil")
    since_ns = time.time_ns()
    (root / "project" / "link").mkdir()
    (root / "project" / "link" / ".git").write_text("gitdir: ../old/.git")
    assert _entered(root, "project/old", since_ns) is None
    assert _entered(root, "project/link", since_ns) == "git core.fsmonitor = echo evil"


def test_what_was_there_before_or_runs_nothing_is_entered(root: Path) -> None:
    _make(root / "project" / "old", "echo the user's")
    since_ns = time.time_ns()
    _make(root / "project" / "new")
    _set(root / "project" / "new", "user.name", "me")
    for name in ("project", "project/src/deep", "project/old", "project/new", "scratch"):
        assert _entered(root, name, since_ns) is None


def test_in_the_temporary_directory_nothing_was_there_before(root: Path) -> None:
    _make(root / "scratch" / "x", "echo evil")
    subprocess.run(["git", "init", "-q", "--bare", str(root / "scratch" / "bare")], check=True)
    assert _entered(root, "scratch/x", time.time_ns()) is not None
    assert _entered(root, "scratch/bare", time.time_ns()) is not None
