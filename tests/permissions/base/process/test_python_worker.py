"""Our own Python programs find the packages that this process finds, and nothing else."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from permissions.base.process.python_worker import python_worker
from permissions.base.process.run_program import run_blocking


def test_modules_are_found_where_this_process_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the packages of a user, which `python -I` leaves out."""
    packages, scripts, project = tmp_path / "packages", tmp_path / "scripts", tmp_path / "project"
    for directory in (packages, scripts, project):
        directory.mkdir()
    (packages / "of_the_user.py").write_text("print('found')\n")
    (scripts / "worker.py").write_text("import of_the_user, json\n")
    for directory in (scripts, project):
        (directory / "json.py").write_text("print('foreign')\n")
    monkeypatch.setattr(sys, "path", ["", "project", str(packages), *sys.path])
    monkeypatch.chdir(tmp_path)
    ended = run_blocking(python_worker(scripts / "worker.py", project), timeout_s=60.0)
    assert (ended.exit_code, ended.stdout, ended.stderr) == (0, b"found\n", b"")
