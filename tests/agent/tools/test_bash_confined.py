"""Bash under a confinement: what holds, what the model is told, and what carries over."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.display import CommandDisplay
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import Sandbox
from agent.tools.base import ToolError, ToolOutcome
from agent.tools.builtin.bash import bash_tool
from agent.tools.builtin.bash_output import bash_output_tool
from permissions.confinement import Confinement, SandboxLevel
from permissions.context import PermissionContext
from permissions.mode import Mode
from permissions.rules.rule_set import RuleSet
from tests.agent.tools.conftest import Bench


@pytest.fixture
def confined(bench: Bench) -> Bench:
    """The bench with a sandbox around its commands."""
    available = probe()
    if available.level is not SandboxLevel.FULL:
        pytest.skip(f"level {available.level}: {available.reason}")
    services = bench.services
    context = PermissionContext(
        mode=Mode.DEFAULT,
        rules=RuleSet(),
        launch_dir=services.launch_dir,
        project_root=services.launch_dir,
        home=services.home,
        scratch_dir=services.scratch_dir,
        readable_dirs=(services.results_dir,),
    )
    services.home.mkdir()
    state_dir = services.home / ".agent" / "sandbox"
    services.sandbox = Sandbox(
        available, lambda: context, state_dir=state_dir, user_env=lambda: os.environ
    )
    return bench


async def _run(bench: Bench, command: str, confinement: Confinement, **more: object) -> ToolOutcome:
    tool = bash_tool()
    context = replace(bench.context, confinement=confinement)
    return await tool.run(tool.parse({"command": command, **more}), context)


async def _appears(path: Path) -> None:
    """Wait until a command has made a file."""
    while not path.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.02)


async def test_a_reading_command_writes_nothing_and_the_model_learns_why(confined: Bench) -> None:
    outcome = await _run(confined, "echo x > planted", Confinement.READ_ONLY)
    assert outcome.is_error
    assert f"write {confined.root}/planted: reading only" in str(outcome.content)
    assert list(confined.root.iterdir()) == []


async def test_files_and_the_directory_carry_over(confined: Bench) -> None:
    await _run(confined, "mkdir sub; cd sub; echo x > f", Confinement.PROJECT)
    outcome = await _run(confined, "cat f; pwd", Confinement.READ_ONLY)
    assert str(outcome.content).split() == ["x", str(confined.root / "sub")]


async def test_the_temporary_directory_is_shared_by_calls_also_as_tmp(confined: Bench) -> None:
    await _run(confined, "echo x > /tmp/a; echo y > $TMPDIR/b", Confinement.READ_ONLY)
    outcome = await _run(confined, "cat $TMPDIR/a /tmp/b", Confinement.PROJECT)
    assert str(outcome.content).split() == ["x", "y"]


async def test_what_hooks_set_is_set_in_a_confined_command(confined: Bench) -> None:
    file = confined.services.home / ".agent" / "env.sh"
    file.parent.mkdir()
    file.write_text("export GREETING=hello\n")
    confined.services.env_files.append(file)
    outcome = await _run(confined, "echo $GREETING", Confinement.READ_ONLY)
    assert outcome.content == "hello"


async def test_what_hooks_of_others_wrote_runs_in_no_unconfined_command(confined: Bench) -> None:
    directory = confined.services.home / ".agent" / "hook-env"
    (directory / "others").mkdir(parents=True)
    own, foreign = directory / "env-Setup.sh", directory / "others" / "env-Setup.sh"
    own.write_text("export OWN=mine; touch own\n")
    foreign.write_text("touch foreign; export GREETING='a\nb' PATH=/x:$PATH LD_X=x\n")
    confined.services.env_files.extend((foreign, own))
    show = 'echo "$OWN ${GREETING@Q} $LD_X"; case $PATH in /x:*) echo changed;; esac; ls'
    outcome = await _run(confined, show, Confinement.NONE)
    assert outcome.content == "mine $'a\\nb' \nown"
    inside = await _run(confined, show, Confinement.PROJECT)
    assert inside.content == "mine $'a\\nb' x\nchanged\nforeign\nown"


async def test_no_command_runs_without_what_hooks_set(confined: Bench) -> None:
    file = confined.services.home / ".agent" / "hook-env" / "others" / "env-Setup.sh"
    file.parent.mkdir(parents=True)
    file.write_text("export GREETING=hello; exit 3\n")
    confined.services.env_files.append(file)
    with pytest.raises(ToolError, match="CLAUDE_ENV_FILE does not run to its end"):
        await _run(confined, "touch ran", Confinement.NONE)
    assert not (confined.services.launch_dir / "ran").exists()


async def test_a_confined_command_cannot_change_how_the_next_one_starts(confined: Bench) -> None:
    results = confined.services.results_dir
    outcome = await _run(
        confined, f"cat {results}/shell-*/prologue; echo evil >> {results}/shell-*/prologue",
        Confinement.PROJECT_FILES,
    )  # fmt: skip
    assert outcome.is_error


async def test_an_interrupted_command_may_clean_up(confined: Bench) -> None:
    ready = confined.root / "ready"
    command = "trap 'echo done > cleaned; exit 1' TERM; echo > ready; sleep 60 & wait"
    running = asyncio.ensure_future(_run(confined, command, Confinement.PROJECT))
    await _appears(ready)
    confined.controller.abort("interrupted")
    await running
    assert (confined.root / "cleaned").read_text() == "done\n"


async def test_a_background_command_stays_confined(confined: Bench) -> None:
    outside = confined.services.home / "outside"
    command = f"echo x > {outside}; echo tried > tried; sleep 60"
    await _run(confined, command, Confinement.PROJECT, run_in_background=True)
    await _appears(confined.root / "tried")
    await confined.services.shells.kill_all()
    assert not outside.exists()
    assert sorted(path.name for path in confined.root.iterdir()) == ["tried"]


async def test_what_a_background_command_was_refused_is_reported_with_its_output(
    confined: Bench,
) -> None:
    (confined.root / "sub").mkdir()
    command = "echo x > sub/.npmrc; echo tried > tried"
    await _run(confined, command, Confinement.PROJECT, run_in_background=True)
    (shell,) = confined.services.shells.all()
    await shell.wait()
    tool = bash_output_tool()
    told = await tool.run(tool.parse({"bash_id": shell.id}), confined.context)
    assert f"write {confined.root}/sub/.npmrc: a protected path; it was moved to" in str(
        told.content
    )
    assert not (confined.root / "sub" / ".npmrc").exists()


async def test_a_confinement_that_cannot_be_set_up_runs_nothing(confined: Bench) -> None:
    assert confined.services.sandbox is not None
    (confined.services.home / ".agent").write_text("a file where a directory belongs")
    with pytest.raises(Exception, match="not run"):
        await _run(confined, "echo x > f", Confinement.PROJECT)
    assert not Path(confined.root / "f").exists()


async def test_a_server_in_the_background_is_reported_as_unseen(confined: Bench) -> None:
    confined.services.may_leave_sandbox = True
    outcome = await _run(confined, "sleep 60", Confinement.PROJECT, run_in_background=True)
    assert "dangerouslyDisableSandbox" in str(outcome.content)
    assert isinstance(outcome.display, CommandDisplay)
    assert "your browser cannot reach its ports" in outcome.display.output
    seen = await _run(confined, "sleep 60", Confinement.PROJECT_FILES, run_in_background=True)
    assert "In the sandbox" not in str(seen.display)
    assert "browser" not in str(seen.content)


async def test_a_wish_to_leave_that_settings_ignore_is_answered(confined: Bench) -> None:
    wish = {"dangerouslyDisableSandbox": True}
    kept = await _run(confined, "echo x > ../y", Confinement.PROJECT, **wish)
    assert "dangerouslyDisableSandbox was ignored" in str(kept.content)
    left = await _run(confined, "echo x > ../y", Confinement.NONE, **wish)
    assert "ignored" not in str(left.content)


@pytest.mark.parametrize(
    ("command", "confinement", "what"),
    [
        ("ps aux", Confinement.READ_ONLY, "processes"),
        ("ss -ltn | head", Confinement.READ_ONLY, "ports"),
        ("ps aux; ss -ltn", Confinement.PROJECT, "processes and ports"),
        ("ss -ltn", Confinement.PROJECT_FILES, ""),
        ("sh -c 'ps aux'", Confinement.PROJECT_FILES, "processes"),
        ("ls", Confinement.READ_ONLY, ""),
        ("ps aux", Confinement.NONE, ""),
    ],
)
async def test_a_list_of_processes_says_whose_they_are(
    confined: Bench, command: str, confinement: Confinement, what: str
) -> None:
    """Or the model would conclude that no server runs on this machine."""
    outcome = await _run(confined, command, confinement)
    note = f"{what} of this machine are not seen"
    assert (note in str(outcome.content)) is bool(what), outcome.content
    assert ("not seen" in str(outcome.content)) is bool(what)
