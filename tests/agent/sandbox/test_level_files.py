"""What holds where Landlock is all there is: writes outside, repositories, no network."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from agent.sandbox.availability import Backend
from agent.sandbox.configuration.sandbox_settings import SandboxSettings
from agent.sandbox.probe import probe
from agent.sandbox.refusals import RefusalKind
from agent.sandbox.sandbox import RunRequest
from agent.sandbox.seccomp import filter_program
from permissions.base.process.spawn import Launch
from permissions.confinement import Confinement, SandboxLevel
from tests.agent.sandbox.conftest import Confined, MakeConfined, Outcome

FILES = SandboxLevel.FILES


def _run(confined: Confined, command: str) -> Outcome:
    return confined.run(f"OUTSIDE={confined.outside}; {command}", Confinement.PROJECT_FILES)


def _tree(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): path.read_text() if path.is_file() else ""
        for path in sorted(directory.rglob("*"))
        if not path.is_symlink()
    }


def test_without_bubblewrap_the_level_is_proven_by_a_program() -> None:
    found = probe("/nonexistent/bwrap")
    assert (found.level, found.backend) in (
        (FILES, Backend.LANDLOCK),
        (SandboxLevel.NONE, Backend.NONE),
    )


ATTACKS = [
    'echo x > "$OUTSIDE/x"',
    'ln -s "$OUTSIDE" sub/link; echo x > sub/link/x',
    'echo x > sub/f; mv sub/f "$OUTSIDE/x"; ln sub/f "$OUTSIDE/x"',
    'rm -rf "$OUTSIDE"; : > "$OUTSIDE/old"; truncate -s0 "$OUTSIDE/old"',
    "git config core.fsmonitor x; echo x >> .git/config; echo x > .git/hooks/pre-commit",
    "mv .git g; mkdir .git; cp -r g/* .git; rm -rf .git; mv sub .git; ln -s sub .git",
    "mv sub/f .git/hooks/pre-commit; ln sub/f .git/hooks/post-commit; git add .; git commit -m a",
    "ln -s ../../sub/f .git/hooks/pre-commit; mkdir .git/x; mknod .git/y p; echo ../x > .git/HEAD",
    "mkdir .vscode; echo x > .mcp.json; cp sub/f .envrc; mv sub/f .npmrc",
    "mv .agent a; rm -rf .agent; echo new > .agent/settings.json; mkdir .claude",
    "mv deep d2; rm -rf deep/in/.vscode; echo new > deep/in/.vscode/tasks.json",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_changes_nothing_outside_and_no_repository(
    attack: str, make_confined: MakeConfined
) -> None:
    confined = make_confined(level=FILES, git=True)
    project = confined.project
    for name in ("sub", ".agent", "deep/in/.vscode"):
        (project / name).mkdir(parents=True)
    for path in (project / ".agent/settings.json", project / "deep/in/.vscode/tasks.json"):
        path.write_text("old")
    (confined.outside / "old").write_text("old")
    kept = [project / name for name in (".git", ".agent", "deep/in/.vscode")]
    before = [_tree(confined.outside), *map(_tree, kept)]
    found = _run(confined, f"{attack}; true")
    assert [_tree(confined.outside), *map(_tree, kept)] == before, found.output
    assert sorted(os.listdir(project)) == [".agent", ".git", "deep", "sub"]
    assert not (project / ".git").is_symlink()
    found = _run(confined, "echo x > sub/f2; mkdir sub/new; mv sub/f2 sub/new/")
    assert found.exit_code == 0, found.output
    assert (project / "sub/new/f2").read_text() == "x\n"


def test_files_beside_a_repository_are_changed_and_none_is_made(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined(level=FILES, git=True)
    (confined.project / "old.txt").write_text("old")
    assert _run(confined, "echo new > old.txt; git status; git log; true").exit_code == 0
    assert (confined.project / "old.txt").read_text() == "new\n"
    found = _run(confined, "echo x > made.txt")
    assert found.exit_code != 0
    assert [(one.kind, one.target) for one in found.refusals] == [
        (RefusalKind.WRITE, str(confined.project / "made.txt"))
    ]
    assert "beside a protected path" in found.refusals[0].rule


def test_a_directory_without_a_repository_is_open(make_confined: MakeConfined) -> None:
    confined = make_confined(level=FILES)
    found = _run(confined, "echo x > a; mkdir b; mv a b/; echo x > /tmp/agent-tui-not-mine")
    assert (confined.project / "b" / "a").exists()
    assert not Path("/tmp/agent-tui-not-mine").exists()
    assert [one.target for one in found.refusals] == ["/tmp/agent-tui-not-mine"]


def test_a_setting_opens_the_repository_too(make_confined: MakeConfined) -> None:
    settings = SandboxSettings(landlock_git_writes=True)
    confined = make_confined(level=FILES, git=True, settings=settings)
    commit = "git add a; git -c user.name=a -c user.email=a@b commit -qm a"
    found = _run(confined, f"echo a > a; {commit}")
    assert found.exit_code == 0, found.output


SOCKETS = [
    "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
    "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "socket.socket(16, socket.SOCK_RAW)",
    "socket.socket(17, socket.SOCK_RAW)",
    "socket.socket(40, socket.SOCK_STREAM)",
    "socket.socket(43, socket.SOCK_STREAM)",
    "socket.socket(38, socket.SOCK_SEQPACKET)",
    "socket.create_connection(('127.0.0.1', int(sys.argv[1])))",
]


@pytest.mark.parametrize("attempt", SOCKETS)
def test_no_socket_leads_out(attempt: str, make_confined: MakeConfined) -> None:
    confined = make_confined(level=FILES)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = _run(confined, f'python3 -c "import socket, sys; {attempt}" {port}')
    assert found.exit_code != 0
    assert "Address family not supported" in found.output
    assert [(one.kind, one.rule) for one in found.refusals] == [(RefusalKind.CONNECT, "no network")]


def test_programs_that_talk_within_themselves_work(make_confined: MakeConfined) -> None:
    script = (
        "import asyncio, multiprocessing, subprocess\n"
        "asyncio.run(asyncio.sleep(0))\n"
        "print(multiprocessing.Pool(1).map(abs, [-1]))\n"
    )
    confined = make_confined(level=FILES)
    (confined.project / "a.py").write_text(script)
    assert _run(confined, "python3 a.py | grep -q 1").exit_code == 0


def test_no_program_that_runs_as_its_owner_is_left(make_confined: MakeConfined) -> None:
    confined = make_confined(level=FILES)
    _run(confined, "cp /bin/true a; chmod 4755 a; chmod 755 a; install -m 4755 /bin/true b")
    assert (confined.project / "a").stat().st_mode & 0o7777 == 0o755
    assert not any(path.stat().st_mode & 0o4000 for path in confined.project.iterdir())


def test_a_link_in_the_place_of_a_working_directory_opens_nothing(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined(level=FILES)
    script = ("/bin/sh", "-c", f"echo x > {confined.outside}/x")
    program = Launch(script, {"PATH": os.defpath}, confined.project)
    launch = confined.sandbox.launch(program, RunRequest(Confinement.PROJECT_FILES))
    confined.project.rename(confined.home / "moved")
    confined.project.symlink_to(confined.outside)
    ended = subprocess.run(launch.argv, cwd="/", env=dict(launch.env), check=False)
    assert ended.returncode != 0
    assert os.listdir(confined.outside) == []


def test_a_filter_that_lets_the_network_through_ends_the_launch(
    make_confined: MakeConfined,
) -> None:
    confined = make_confined(level=FILES)
    program = Launch(("/bin/true",), {"PATH": os.defpath}, confined.project)
    argv = list(confined.sandbox.launch(program, RunRequest(Confinement.PROJECT_FILES)).argv)
    place = next(index for index, word in enumerate(argv) if word.startswith("{"))
    argv[place] = json.dumps({**json.loads(argv[place]), "filter": filter_program((2,)).hex()})
    ended = subprocess.run(argv, cwd="/", capture_output=True, check=False)
    assert (ended.returncode, b"does not hold" in ended.stderr) == (125, True)
