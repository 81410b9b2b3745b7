"""A command that runs meanwhile puts a link in the place of a directory that was looked at."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import pytest

from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.sandbox import RunRequest
from permissions.base.process.run_program import ProcessResult, run_blocking
from permissions.base.process.spawn import CannotConfine, Launch
from permissions.confinement import Confinement
from tests.agent.sandbox.conftest import Confined, MakeConfined

WRITING = [Confinement.PROJECT, Confinement.PROJECT_FILES]


def _launch(confined: Confined, command: str, confinement: Confinement) -> Launch:
    env = {"PATH": os.environ["PATH"], "HOME": str(confined.home)}
    program = Launch(("/bin/bash", "--norc", "-c", command), env, confined.project)
    return confined.sandbox.launch(program, RunRequest(confinement))


def _run(launch: Launch) -> ProcessResult:
    return run_blocking(launch, timeout_s=60.0)


def _swap(directory: Path, target: Path) -> None:
    directory.rename(directory.with_name("moved"))
    directory.symlink_to(os.path.relpath(target, directory.parent))


@pytest.mark.parametrize("confinement", WRITING)
def test_a_directory_that_became_a_link_is_not_opened_for_writing(
    make_confined: MakeConfined, confinement: Confinement
) -> None:
    confined = make_confined()
    sub, outside = confined.project / "sub", confined.home / "outside"
    for directory in (sub, outside):
        directory.mkdir()
        (directory / ".bashrc").write_text("old")  # around it a directory is mounted for writing
    launch = _launch(confined, "touch sub/planted", confinement)
    _swap(sub, outside)
    _run(launch)
    assert os.listdir(outside) == [".bashrc"]


@pytest.mark.parametrize("confinement", WRITING)
def test_a_directory_that_is_a_link_before_the_mounts_ends_the_launch(
    make_confined: MakeConfined, confinement: Confinement, monkeypatch: pytest.MonkeyPatch
) -> None:
    confined = make_confined()
    sub = confined.project / "sub"
    sub.mkdir()
    (sub / ".bashrc").write_text("old")
    policy = confined.sandbox.policy

    def policy_then_swap(request: RunRequest, program: Launch) -> object:
        made = policy(request, program)
        _swap(sub, confined.outside)
        return made

    monkeypatch.setattr(confined.sandbox, "policy", policy_then_swap)
    with pytest.raises(CannotConfine, match="sub"):
        _launch(confined, "true", confinement)


@pytest.mark.parametrize("confinement", WRITING)
def test_what_is_put_back_afterwards_follows_no_link(
    make_confined: MakeConfined, confinement: Confinement
) -> None:
    confined = make_confined()
    sub = confined.project / "sub"
    sub.mkdir()
    for name in (".bashrc", ".zshrc"):
        (sub / name).symlink_to(confined.project / "evil.sh")
    (confined.home / ".bashrc").write_text("the user's")
    launch = _launch(confined, "true", confinement)
    _swap(sub, confined.home)
    _run(launch)
    assert (confined.home / ".bashrc").read_text() == "the user's"
    assert not (confined.home / ".zshrc").is_symlink()


def test_descriptors_of_mounts_do_not_reach_the_command(make_confined: MakeConfined) -> None:
    confined = make_confined(git=True)
    ended = _run(_launch(confined, "ls -l /proc/self/fd /proc/1/fd", Confinement.PROJECT))
    assert ended.exit_code == 0
    assert str(confined.project).encode() not in ended.stdout


@pytest.mark.parametrize("place", [".git/commondir", ".git/worktrees/wt/commondir", "HEAD"])
def test_a_command_that_leads_git_elsewhere_ends_at_once(
    make_confined: MakeConfined, place: str
) -> None:
    confined = make_confined(git=place != "HEAD")
    if "worktrees" in place:
        git = ["git", "-C", str(confined.project), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", str(confined.outside / "wt")], check=True)
    script = f"echo ../evil > {place}; sleep 600"
    launch = _launch(confined, script, Confinement.PROJECT)
    ended = _run(launch)
    assert not ended.timed_out
    assert ended.exit_code != 0
    made = confined.project / place
    assert not made.exists() or made.read_text() == "../..\n"
    assert isinstance(launch.confined_run, SandboxRun)
    assert [one.target for one in launch.confined_run.refusals("")] == [str(made)]


def test_it_ends_also_where_the_program_has_many_descriptors_open(
    make_confined: MakeConfined,
) -> None:
    """`select` takes none above 1023, and a watch without it would end in silence."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2000:
        pytest.skip(f"only {hard} descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2000), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    try:
        launch = _launch(
            make_confined(git=True), "echo x > .git/commondir; sleep 600", Confinement.PROJECT
        )
        assert not _run(launch).timed_out
    finally:
        for descriptor in opened:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
