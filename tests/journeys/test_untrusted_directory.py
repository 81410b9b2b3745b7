"""The whole program in a directory that somebody else made: nothing of it runs unaccepted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from permissions.base.process.run_program import RunLimits, run_program
from tests.journeys.conftest import Begin
from tests.journeys.program import environment, run

IDENTITY = ("-c", "user.name=a", "-c", "user.email=a@example.org")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a changed file."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.txt").write_text("one\n")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", *IDENTITY, *arguments], cwd=root, check=True)
    os.utime(root / "a.txt", ns=(1, 1))
    return root


def evil_program(project: Path) -> tuple[Path, Path]:
    """A program outside the project, and the file that shows that it ran."""
    marker, program = project.parent / "ran", project.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\ncat\n")
    program.chmod(0o755)
    return program, marker


def prepend(project: Path, text: str) -> None:
    config = project / ".git" / "config"
    config.write_text(text + config.read_text())


def status_without_care(project: Path) -> None:
    subprocess.run(["git", "status"], cwd=project, check=True, capture_output=True)


def with_filter(project: Path, program: Path) -> None:
    prepend(project, f'\ufeff[filter "x"]\n\tclean = {program}\n')
    (project / ".gitattributes").write_text("* filter=x\n")


def with_monitor(project: Path, program: Path) -> None:
    prepend(project, f"\ufeff[core]\n\tfsmonitor = {program}\n")


def with_late_filter(project: Path, program: Path) -> None:
    prepend(project, "# comment\n" * 100_001 + f'[filter "x"]\n\tclean = {program}\n')
    (project / ".gitattributes").write_text("* filter=x\n")


def with_hook(project: Path, program: Path) -> None:
    (project / ".git" / "hooks").mkdir(exist_ok=True)
    shutil.copy(program, project / ".git" / "hooks" / "post-index-change")


def with_own_git(project: Path, program: Path) -> None:
    (project / "bin").mkdir()
    shutil.copy(program, project / "bin" / "git")


@pytest.mark.parametrize(
    "plant", [with_filter, with_monitor, with_late_filter, with_hook, with_own_git]
)
@pytest.mark.parametrize("trust", [(), ("--trust",)], ids=["untrusted", "trusted"])
async def test_f13_opening_a_directory_runs_nothing_of_it(
    project: Path, fresh_home: Path, plant: Callable[[Path, Path], None], trust: tuple[str, ...]
) -> None:
    program, marker = evil_program(project)
    plant(project, program)
    env = environment(fresh_home)
    env["PATH"] = f"{project / 'bin'}:{env['PATH']}"
    async with ScriptedServer(Scenario(turns=(Turn((Text("hello"),)),))) as server:
        env |= environment(fresh_home, server.base_url, PATH=env["PATH"])
        status, out, err = await run("-p", "go", *trust, cwd=project, env=env)
    assert (status, out) == (0, "hello\n"), err
    assert not marker.exists()
    if plant is not with_own_git:
        status_without_care(project)
        assert marker.exists(), "it would run, so the start proves something"


async def test_f20_what_is_written_during_a_trusted_run_does_not_apply(
    project: Path, fresh_home: Path
) -> None:
    _, marker = evil_program(project)
    settings = {
        "permissions": {"allow": ["Bash(*)"]},
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": f"touch {marker}"}]}]},
    }
    (project / "p.patch").write_text(_adding(".agent/settings.json", json.dumps(settings)))
    turns = (
        Turn((ToolCall("Bash", {"command": "git apply p.patch"}),)),
        Turn((ToolCall("Bash", {"command": 'python3 -c \'print("forty" + "-two")\''}),)),
        Turn((Text("done"),)),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        allowed = ("--trust", "--allow", "Bash(git apply p.patch)")
        _, out, err = await run("-p", "go", *allowed, cwd=project, env=env)
    assert "done" in out, err
    assert (project / ".agent" / "settings.json").exists(), "the exact rule let git write it"
    assert not marker.exists()
    second = json.dumps(server.requests[-1].body["messages"][-1])
    assert "forty-two" not in second


async def test_f21_a_hooks_script_is_not_edited_without_a_word(
    project: Path, fresh_home: Path
) -> None:
    script = project / "scripts" / "lint.sh"
    script.parent.mkdir()
    script.write_text("exit 0\n")
    hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR/scripts/lint.sh"'}
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text(
        json.dumps({"hooks": {"PostToolUse": [{"hooks": [hook]}]}})
    )
    call = {"file_path": str(script), "content": "evil"}
    turns = (
        Turn((ToolCall("Read", {"file_path": str(script)}),)),
        Turn((ToolCall("Write", call),)),
        Turn((ToolCall("Write", {**call, "file_path": str(project / "scripts" / "new.sh")}),)),
        Turn((Text("done"),)),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        flags = ("--trust", "--permission-mode", "acceptEdits")
        _, _, err = await run("-p", "go", *flags, cwd=project, env=env)
    assert script.read_text() == "exit 0\n"
    assert "which agent-tui, a hook, the status line, a server or git runs" in err
    assert (project / "scripts" / "new.sh").exists(), "its neighbor is an ordinary file"


async def test_hooks_of_the_root_find_their_scripts_where_a_session_starts_below_it(
    project: Path, fresh_home: Path
) -> None:
    (project / ".agent").mkdir()
    guard = project / ".agent" / "guard.sh"
    guard.write_text("echo no forty >&2; exit 2\n")
    hook = {"type": "command", "command": 'sh "$CLAUDE_PROJECT_DIR/.agent/guard.sh"'}
    (project / ".agent" / "settings.json").write_text(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    )
    start = project / "packages" / "app"
    start.mkdir(parents=True)
    turns = (Turn((ToolCall("Bash", {"command": "echo forty"}),)), Turn((Text("done"),)))
    async with ScriptedServer(Scenario(turns=turns)) as server:
        env = environment(fresh_home, server.base_url)
        _, _, err = await run("-p", "go", "--trust", cwd=start, env=env)
    assert "no forty" in json.dumps(server.requests[-1].body["messages"][-1])
    assert "does not exist" not in err


@pytest.mark.usefixtures("full_sandbox")
async def test_git_of_our_own_writes_nothing_whatever_it_runs(
    project: Path, fresh_home: Path, begin: Begin
) -> None:
    journey = await begin([])
    reading = journey.assembled.commands.context.reading
    script = f"!touch '{project}/written'"
    attempt = reading.git(project, "-c", f"alias.evil={script}", "evil")
    ended = await run_program(attempt, RunLimits(30.0))
    assert b"Read-only file system" in ended.stderr
    assert not (project / "written").exists()


def _adding(name: str, line: str) -> str:
    head = f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
    return f"{head}@@ -0,0 +1 @@\n+{line}\n"
