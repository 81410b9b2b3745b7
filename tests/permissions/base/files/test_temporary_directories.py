"""Temporary folders of killed processes go with the next start; those of live ones stay."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from permissions.base.files.temporary_directories import make_owned_directory

ROOT = Path(__file__).parents[4]
OWNER = """
import os, signal, sys
from permissions.base.files.temporary_directories import make_owned_directory
print(make_owned_directory("agent-tui-test-").path, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
sys.stdin.read()
"""


def owner(how: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, how],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    directory = Path(process.stdout.readline().strip())
    (directory / "sub").mkdir()
    os.utime(directory, (1, 1))
    return process, directory


@pytest.mark.parametrize("how", ["killed", "alive"])
def test_only_what_a_dead_process_left_is_removed(how: str) -> None:
    process, directory = owner(how)
    try:
        if how == "killed":
            assert process.wait() == -signal.SIGKILL
        make_owned_directory("agent-tui-test-").remove()
        assert directory.exists() == (how == "alive")
    finally:
        process.communicate("")


def test_what_is_young_foreign_or_of_another_name_stays() -> None:
    base = Path(tempfile.gettempdir())
    young, open_to_others, other = (base / f"agent-tui-{n}" for n in ("test-1", "test-2", "kept-"))
    for directory in (young, open_to_others, other):
        directory.mkdir(mode=0o700)
    (base / "agent-tui-test-link").symlink_to(other)
    open_to_others.chmod(0o755)
    for directory in (open_to_others, other):
        os.utime(directory, (1, 1))
    made = make_owned_directory("agent-tui-test-")
    assert made.path.is_dir()
    made.remove()
    assert not made.path.exists()
    assert all(directory.exists() for directory in (young, open_to_others, other))
