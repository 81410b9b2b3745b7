"""`agent-tui sandbox`: shows what this machine enforces, and runs a command under a confinement."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import click
from msgspec.structs import replace

from agent.permission_config.permission_context import permission_setup
from agent.sandbox.availability import Availability
from agent.sandbox.configuration.configured_hosts import configured_hosts
from agent.sandbox.configuration.sandbox_settings import sandbox_settings
from agent.sandbox.confined_launch import SandboxRun
from agent.sandbox.network.call_tokens import NetworkCall
from agent.sandbox.network.host_name import InvalidHost
from agent.sandbox.network.host_rules import HostRule, HostRules, parse_host_rule
from agent.sandbox.network.threaded_network import network_of_one_program
from agent.sandbox.placeholders import sweep
from agent.sandbox.policy import Network
from agent.sandbox.probe import probe
from agent.sandbox.refusals import Refusal
from agent.sandbox.sandbox import RunRequest, Sandbox
from agent.tools.shell.protected_checkout import protected_changes
from agent.tools.shell.shell_process import command_environment, find_bash
from permissions.base.files.directory_trees import remove_tree
from permissions.base.process.child_environment import child_environment
from permissions.base.process.guardian import forget, register_pid, watch
from permissions.base.process.neutral_git import with_neutral_git
from permissions.base.process.process_tree import MARK
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.spawn import CannotStart, Launch, releasing_start, spawn
from permissions.confinement import Confinement, SandboxLevel, can_hold
from permissions.rule import RuleSource
from tui.command_line.subcommands.places import current_directories, settings_here

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
    """Probe this machine and show what confines commands."""
    available = probe()
    if as_json:
        profiles = {
            str(one): {"held": can_hold(available.level, one), "holds": _meaning(available, one)}
            for one in Confinement
        }
        click.echo(json.dumps({**available.as_json(), "profiles": profiles}, ensure_ascii=False))
    else:
        click.echo(describe(available))
    return 0


def describe(available: Availability) -> str:
    """Return text for users: the level, how it is enforced, and how to get a higher one."""
    program = f" ({available.program})" if available.program else ""
    lines = [f"level {available.level}: {available.backend}{program}"]
    if available.reason:
        lines.append(f"  why not full: {available.reason}")
    if available.fix:
        lines.append(f"  to get more: {available.fix}")
    for one in Confinement:
        mark = "✓" if can_hold(available.level, one) else "✗"
        lines.append(f"  {mark} {one}: {_meaning(available, one)}")
    return "\n".join(lines)


def _meaning(available: Availability, confinement: Confinement) -> str:
    if confinement is Confinement.PROJECT_FILES and available.level is SandboxLevel.FILES:
        return (
            "writes the working directories without their repositories, and package caches, "
            "no network; creates nothing next to a protected name; no file is hidden from it"
        )
    return _MEANING[confinement]


@command.command("run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--confinement",
    type=click.Choice([one for one in map(str, Confinement) if one != "none"]),
    required=True,
    help="What the command may do.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="HOST[:PORT]",
    help="Let it connect to this host, and to no other (only with project).",
)
@click.option(
    "--add-dir", multiple=True, metavar="DIR", help="Another working directory. Repeatable."
)
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND…", type=click.UNPROCESSED)
def run(
    confinement: str, allow_host: tuple[str, ...], add_dir: tuple[str, ...], words: tuple[str, ...]
) -> int:
    """Run one command as the Bash tool would, under a confinement.

    One word is a shell command; several are a program and its arguments. Exit status: that of the
    command, 125 when the confinement cannot be enforced here. What was refused follows on standard
    error, one JSON line each.
    """
    host_rules = _host_rules(allow_host, confinement)
    place = current_directories()
    settings = settings_here(place)
    state_dir = place.agent_home / "sandbox"
    sweep(state_dir)
    with _temporary_directory() as scratch, contextlib.ExitStack() as network:
        setup = permission_setup(settings, bypass_available=False, scratch_dir=scratch)
        context = setup.context.with_directories(_directories(add_dir))
        sandbox_values = sandbox_settings(settings)
        sandbox = Sandbox(
            probe(sandbox_values.bubblewrap or None),
            lambda: context,
            state_dir=state_dir,
            user_env=lambda: {**os.environ, **settings.own_env},
            settings=lambda: sandbox_values,
        )
        env = command_environment(
            child_environment(os.environ, settings.env), cwd=place.cwd, scratch_dir=scratch
        )
        if confinement == Confinement.READ_ONLY:
            env = with_neutral_git(env)
        text = words[0] if len(words) == 1 else shlex.join(words)
        program = Launch((find_bash(env), "--noprofile", "--norc", "-c", text), env, place.cwd)
        request, access = RunRequest(Confinement(confinement), command=text), None
        try:
            if host_rules and can_hold(sandbox.level, request.confinement):
                rules = HostRules(host_rules, configured_hosts(sandbox_values, context.rules).deny)
                access = network.enter_context(
                    network_of_one_program(rules, NetworkCall("", text), env, os.environ)
                )
                request = replace(request, network=Network.SESSION)
            if confinement != Confinement.READ_ONLY and sandbox.level is not SandboxLevel.NONE:
                reading = RunRequest(Confinement.READ_ONLY, masks_denied=False)
                programs = ReadingPrograms(
                    env, context.project_root, sandbox.confine_where_held(reading)
                )
                changes = protected_changes(text, place.cwd, context.home, programs)
                if refusals := asyncio.run(changes):
                    _print_refusals(refusals)
                    return 1
            return _run(sandbox.launch(program, request, access))
        except CannotStart as error:
            click.echo(json.dumps({"reason": str(error)}, ensure_ascii=False), err=True)
            return EXIT_CANNOT_HOLD


def _host_rules(texts: tuple[str, ...], confinement: str) -> tuple[HostRule, ...]:
    if texts and confinement != Confinement.PROJECT:
        has = "no network" if confinement == Confinement.READ_ONLY else "the host's network"
        raise click.UsageError(
            f"--allow-host needs --confinement project: {confinement} has {has}."
        )
    try:
        return tuple(parse_host_rule(text, RuleSource.CLI) for text in texts)
    except InvalidHost as error:
        raise click.UsageError(f"--allow-host: {error}") from error


def _directories(names: tuple[str, ...]) -> tuple[Path, ...]:
    directories = tuple(Path(name).absolute() for name in names)
    for directory in directories:
        if not directory.is_dir():
            raise click.UsageError(f"--add-dir: {directory} is not a directory.")
    return directories


@contextlib.contextmanager
def _temporary_directory() -> Iterator[Path]:
    directory = Path(os.path.realpath(tempfile.mkdtemp(prefix="agent-tui-")))
    try:
        yield directory
    finally:
        with contextlib.suppress(OSError):
            remove_tree(directory)


def _run(launch: Launch) -> int:
    """Run the program, report what the sandbox refused, return the exit status."""
    # Sent by wrappers such as `timeout`: the program must then be ended, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    value = uuid.uuid4().hex
    mark = f"{MARK}={value}"
    watch(mark)
    marked_launch = replace(launch, env={**launch.env, MARK: value})
    with releasing_start(launch):
        process = spawn(marked_launch, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    register_pid(mark, process.pid)
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
        if launch.confined_run is not None:
            launch.confined_run.finish()
        forget(mark)
    for copy in copies:
        copy.join()
    if isinstance(launch.confined_run, SandboxRun):
        output = tail.decode(errors="replace")
        _print_refusals(launch.confined_run.refusals(output, has_failed=code != 0))
    return code if code >= 0 else 128 - code


def _copy(source: IO[bytes], target: IO[bytes], tail: bytearray) -> None:
    while chunk := os.read(source.fileno(), _TAIL_BYTES):
        tail += chunk
        del tail[:-_TAIL_BYTES]
        with contextlib.suppress(OSError):
            target.write(chunk)
            target.flush()


def _print_refusals(refusals: Iterable[Refusal]) -> None:
    for refusal in refusals:
        click.echo(json.dumps(refusal.as_json(), ensure_ascii=False), err=True)
