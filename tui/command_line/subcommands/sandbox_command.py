"""`agent-tui sandbox`: what this machine enforces, and one command under a confinement."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import click

from agent.permission_config.permission_context import permission_setup
from agent.sandbox.availability import Availability
from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.probe import probe
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.tools.shell.shell_process import command_environment, find_bash
from permissions.base.process.child_environment import child_environment
from permissions.base.process.spawn import CannotStart, Launch, releasing_start, spawn
from permissions.confinement import Confinement, can_hold
from tui.command_line.subcommands.places import here, settings_here

EXIT_CANNOT_HOLD = 125
_TAIL_BYTES = 64 * 1024
_MEANING = {
    Confinement.READ_ONLY: "writes only the session's temporary directory, no network",
    Confinement.PROJECT: "writes the working directories except protected names, no network",
    Confinement.PROJECT_FILES: "writes the working directories except protected names and "
    "package caches, the host's network",
    Confinement.NONE: "not confined",
}


@click.group("sandbox", short_help="Show what confines commands; run one command confined.")
def command() -> None:
    """Show what this machine enforces, or run one command under a confinement."""


@command.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(as_json: bool) -> int:
    """Probe this machine and say what confines commands here."""
    available = probe()
    if as_json:
        held = {
            str(one): {"held": can_hold(available.level, one), "holds": _MEANING[one]}
            for one in Confinement
        }
        click.echo(json.dumps({**available.as_json(), "profiles": held}, ensure_ascii=False))
    else:
        click.echo(describe(available))
    return 0


def describe(available: Availability) -> str:
    """Return the level, how it is enforced, and how to get more, in a few lines."""
    program = f" ({available.program})" if available.program else ""
    lines = [f"level {available.level}: {available.backend}{program}"]
    if available.reason:
        lines.append(f"  why not full: {available.reason}")
    if available.fix:
        lines.append(f"  to get more: {available.fix}")
    for one in Confinement:
        mark = "✓" if can_hold(available.level, one) else "✗"
        lines.append(f"  {mark} {one}: {_MEANING[one]}")
    return "\n".join(lines)


@command.command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--confinement",
    type=click.Choice([one for one in map(str, Confinement) if one != "none"]),
    required=True,
    help="What the command may do.",
)
@click.option("--add-dir", multiple=True, metavar="DIR", help="One more working directory.")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND…", type=click.UNPROCESSED)
def run(confinement: str, add_dir: tuple[str, ...], words: tuple[str, ...]) -> int:
    """Run one command as the Bash tool would, under a confinement.

    One word is a shell command; several are a program and its arguments. Exit status: that of the
    command, 125 when the confinement cannot be enforced here. What was refused follows on standard
    error, one JSON line each.
    """
    place = here()
    settings = settings_here(place)
    with _temporary_directory() as scratch:
        setup = permission_setup(settings, bypass_available=False, scratch_dir=scratch)
        context = setup.context
        directories = tuple(Path(name).absolute() for name in add_dir)
        for directory in directories:
            if not directory.is_dir():
                raise click.UsageError(f"--add-dir: {directory} is not a directory.")
        context = context.with_directories(directories)
        sandbox = Sandbox(probe(), lambda: context, state_dir=place.agent_home / "sandbox")
        env = command_environment(
            child_environment(os.environ, settings.env), cwd=place.cwd, scratch_dir=scratch
        )
        text = words[0] if len(words) == 1 else shlex.join(words)
        bash = find_bash(env)
        program = Launch((bash, "--noprofile", "--norc", "-c", text), env, place.cwd)
        try:
            launch = sandbox.launch(program, RunRequest(Confinement(confinement)))
            return _run(launch)
        except CannotStart as error:
            click.echo(json.dumps({"reason": str(error)}, ensure_ascii=False), err=True)
            return EXIT_CANNOT_HOLD


@contextlib.contextmanager
def _temporary_directory() -> Iterator[Path]:
    directory = Path(os.path.realpath(tempfile.mkdtemp(prefix="agent-tui-")))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _run(launch: Launch) -> int:
    """Run the program with its output passed on, report refusals, return the exit status."""
    with releasing_start(launch):
        process = spawn(launch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    tail = bytearray()
    copies = [
        threading.Thread(target=_copy, args=(source, target, tail), daemon=True)
        for source, target in (
            (process.stdout, sys.stdout.buffer),
            (process.stderr, sys.stderr.buffer),
        )
    ]
    for copy in copies:
        copy.start()
    try:
        code = process.wait()
    except KeyboardInterrupt:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code = 130
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        if launch.confined is not None:
            launch.confined.ended()
    for copy in copies:
        copy.join()
    if isinstance(launch.confined, SandboxRun):
        _report(launch.confined, tail.decode(errors="replace"), failed=code != 0)
    return code if code >= 0 else 128 - code


def _copy(source: IO[bytes], target: IO[bytes], tail: bytearray) -> None:
    while chunk := os.read(source.fileno(), _TAIL_BYTES):
        tail += chunk
        del tail[:-_TAIL_BYTES]
        with contextlib.suppress(OSError):
            target.write(chunk)
            target.flush()


def _report(confined: SandboxRun, output: str, *, failed: bool) -> None:
    for refusal in confined.refusals(output, failed=failed):
        click.echo(json.dumps(refusal.as_json(), ensure_ascii=False), err=True)
