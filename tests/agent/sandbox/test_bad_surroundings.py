"""Machines on which something is missing, full or in the way: clear words, and never less
confinement than was promised."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agent.sandbox.availability import Availability
from agent.sandbox.probe import probe
from agent.sandbox.protected.protected_mounts import common_directory
from agent.sandbox.sandbox import RunRequest, Sandbox
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement, SandboxLevel
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet
from tests.journeys.program import environment

PROGRAM = (sys.executable, "-m", "tui.cli", "sandbox")
WRITES = "touch inside; touch ../outside"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "home" / "project"
    directory.mkdir(parents=True)
    return directory


def _run(
    project: Path, *words: str, inside: tuple[str, ...] = (), **env: str
) -> subprocess.CompletedProcess[str]:
    """Run `agent-tui sandbox …` in surroundings that another program makes."""
    return subprocess.run(
        [*inside, *PROGRAM, *words],
        cwd=project,
        env=environment(project.parent, **env),
        capture_output=True,
        text=True,
        check=False,
    )


def _prepared(script: str) -> tuple[str, ...]:
    """Return the words that run a script as root of namespaces of their own, then the program."""
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    words = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    made = subprocess.run([*words, script + "; true"], capture_output=True, text=True, check=False)
    if made.returncode != 0 or made.stderr:
        pytest.skip(f"such surroundings cannot be made here: {made.stderr}")
    return (*words, f'{script}; exec "$@"', "sh")


def _refuses_or_holds(project: Path, inside: tuple[str, ...], **env: str) -> str:
    """Run a command that writes in two places: nothing runs, or one of them is refused.

    Returns what was said.
    """
    words = ("run", "--confinement", "project", "--", WRITES)
    ended = _run(project, *words, inside=inside, **env)
    assert not (project.parent / "outside").exists()
    assert "Traceback" not in ended.stderr
    said = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("{")]
    if ended.returncode != 125:
        assert (project / "inside").exists(), ended.stderr
        # Below /dev and /tmp the write went to a directory of the sandbox's own.
        assert [one["kind"] for one in said] == (["write"] if ended.returncode else [])
        return ""
    assert not (project / "inside").exists()
    (only,) = said
    return str(only["reason"])


def test_user_namespaces_that_are_refused(project: Path) -> None:
    inside = _prepared("echo 0 > /proc/sys/user/max_user_namespaces")
    status = json.loads(_run(project, "status", "--json", inside=inside).stdout)
    assert status["level"] != "full"
    assert status["reason"]
    assert status["fix"] == "sysctl user.max_user_namespaces=15000"
    if status["level"] == "files":
        assert "next to a protected name" in status["profiles"]["project_files"]["holds"]
    assert "cannot enforce project" in _refuses_or_holds(project, inside)


def test_a_bubblewrap_that_mounts_by_path_alone(tmp_path: Path) -> None:
    old = tmp_path / "bwrap"
    old.write_text("#!/bin/sh\necho 'bwrap: Unknown option --bind-fd' >&2; exit 1\n")
    old.chmod(0o755)
    found = probe(str(old))
    assert found.level is not SandboxLevel.FULL
    assert "too old" in found.reason
    assert found.fix


def test_inside_another_sandbox(project: Path, available: Availability) -> None:
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    around = (*PROGRAM, "run", "--confinement", "project_files", "--")
    status = json.loads(_run(project, "status", "--json", inside=around).stdout)
    said = _refuses_or_holds(project, around)
    # An ordinary user may make namespaces in those of another sandbox.
    if status["level"] != "full":
        assert "bubblewrap fails" in status["reason"]
        assert "cannot enforce project" in said


def test_a_read_only_tmp(project: Path) -> None:
    inside = _prepared("mount --bind /tmp /tmp && mount -o remount,bind,ro /tmp")
    if str(project).startswith("/tmp/"):
        with TemporaryDirectory(dir=Path(__file__).parent) as elsewhere:
            there = Path(elsewhere) / "home" / "project"
            there.mkdir(parents=True)
            _refuses_or_holds(there, inside)
    else:
        _refuses_or_holds(project, inside)


@pytest.mark.parametrize("place", ["TMPDIR", "AGENT_TUI_HOME"])
def test_a_full_disk(project: Path, tmp_path: Path, place: str) -> None:
    full = tmp_path / "full"
    full.mkdir()
    inside = _prepared(
        f"mount -t tmpfs -o size=64k,nr_inodes=3 none '{full}' && touch '{full}/a' '{full}/b'"
    )
    _refuses_or_holds(project, inside, **{place: str(full)})


@pytest.fixture
def other_file_system() -> Iterator[Path]:
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == Path("/tmp").stat().st_dev:
        pytest.skip("there is no other file system")
    with TemporaryDirectory(dir=shared) as directory:
        yield Path(directory)


def test_a_project_on_another_file_system(other_file_system: Path) -> None:
    project = other_file_system / "home" / "project"
    project.mkdir(parents=True)
    _refuses_or_holds(project, ())


def test_a_working_directory_that_is_a_link(tmp_path: Path, available: Availability) -> None:
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    real, link = tmp_path / "home" / "real", tmp_path / "home" / "link"
    subprocess.run(["git", "init", "-q", str(real)], check=True)
    link.symlink_to(real)
    (tmp_path / "temp").mkdir()
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=link,
        project_root=link,
        home=tmp_path / "home",
        scratch_dir=tmp_path / "temp",
    )
    sandbox = Sandbox(
        available, lambda: context, state_dir=tmp_path / "state", user_env=lambda: os.environ
    )
    script = f"touch a; touch {link}/b; touch .git/hooks/pre-commit; touch ../outside; rm ../link"
    program = Launch(("/bin/sh", "-c", script), {"PATH": "/usr/bin:/bin"}, link)
    run_blocking(sandbox.launch(program, RunRequest(Confinement.PROJECT)), timeout_s=60.0)
    assert {path.name for path in real.iterdir()} == {".git", "a", "b"}
    assert not (real / ".git" / "hooks" / "pre-commit").exists()
    assert {path.name for path in (tmp_path / "home").iterdir()} == {"real", "link"}


def test_what_stands_in_the_place_of_git_files_is_no_repository(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "nul").write_bytes(b"gitdir: a\0b\n")
    (tmp_path / "private").mkdir()
    os.mkfifo(tmp_path / "private" / "gitdir")
    (tmp_path / "file").write_text("gitdir: private\n")
    for name in ("pipe", "endless", "nul", "file"):
        assert common_directory(str(tmp_path / name)) is None
