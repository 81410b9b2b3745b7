"""Command hooks: a program reads the payload on standard input, through bash or directly."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from hooks.answers.response import (
    SHOWN_LIMIT_CHARS,
    HandlerOutcome,
    HandlerResult,
    Printed,
    decode,
    first_line,
    judge_printed,
)
from hooks.config.lint import UNQUOTED_PLACEHOLDER
from hooks.config.spec import CommandHandler
from hooks.events.capabilities import LONGEST_TIMEOUT_S
from hooks.execution.environment import fill_placeholders, fill_single_quoted
from hooks.execution.handlers.hook_call import HookCall
from hooks.ports import HookOrigin
from permissions.base.process.program_path import path_outside
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.safe_python import safe_python
from permissions.base.process.spawn import CannotStart, Launch

SHELL_PREFIX = "CLAUDE_CODE_SHELL_PREFIX"
DRAIN_S = 0.1
"""How long output may still arrive after the program exited."""


class CommandHandlerMode:
    """Runs programs."""

    async def run(self, call: HookCall) -> HandlerResult:
        """Run the program and interpret its exit code and output."""
        handler = call.spec.handler
        assert isinstance(handler, CommandHandler)
        is_detached = False
        timeout_s = call.timeout_s

        def on_first_line(line: bytes) -> float | None:
            nonlocal is_detached, timeout_s
            announcement = _background_announcement(line)
            if announcement is None:
                return None
            is_detached = True
            call.detach()
            seconds_left = _async_timeout_s(announcement)
            timeout_s = seconds_left or timeout_s
            return seconds_left

        failure = HandlerResult(call.spec, HandlerOutcome.NON_BLOCKING_ERROR)
        if call.spec.plugin is not None and call.spec.plugin.data is not None:
            with contextlib.suppress(OSError):
                call.spec.plugin.data.mkdir(parents=True, exist_ok=True)
        try:
            argv = argv_of(handler, call.env)
            env = {**call.env, **safe_python(" ".join(argv), call.env)}
            # `while read line` in a shell sees a last line only if it ends.
            program = Launch(argv, env, call.cwd, call.payload_json + b"\n")
            confine = call.ports.confine(_origin(call))
            # Preparing a confinement takes milliseconds of reading directories.
            program = await asyncio.to_thread(confine, program)
            limits = RunLimits(
                call.timeout_s, grace_s=call.ports.grace_s, drain_s=DRAIN_S, leaves_descendants=True
            )
            result = await run_program(program, limits, on_first_line=on_first_line)
        except CannotStart as error:
            is_not_found = isinstance(error.__cause__, FileNotFoundError)
            return replace(failure, error=f"cannot start: {error}", is_not_found=is_not_found)
        if result.timed_out:
            stderr = decode(result.stderr)[:SHOWN_LIMIT_CHARS]
            line = first_line(stderr)
            detail = f"; its output was: {line}" if line else ""
            return replace(
                failure,
                outcome=HandlerOutcome.CANCELLED,
                error=f"timed out after {timeout_s:g} s and was ended; "
                f"its output is ignored{detail}",
                stderr=stderr,
            )
        if result.exit_code is None:
            message = "ended, but its exit status was lost, so its output is ignored"
            return replace(failure, error=message, stderr=decode(result.stderr)[:SHOWN_LIMIT_CHARS])
        stdout = result.stdout
        if is_detached:
            stdout = stdout.partition(b"\n")[2]
        return judge_printed(
            call.spec,
            Printed(
                exit_code=result.exit_code,
                stdout=stdout,
                stderr=result.stderr,
                stdout_dropped=result.stdout_dropped,
                payload=call.payload,
                suspicion=_suspicion(handler, call.env),
            ),
        )


def _origin(call: HookCall) -> HookOrigin:
    readable = [Path(call.spec.file).parent] if call.spec.file is not None else []
    writable = [Path(file)] if (file := call.env.get("CLAUDE_ENV_FILE")) else []
    plugin = call.spec.plugin
    if plugin is not None:
        readable.append(plugin.root)
        if plugin.data is not None:
            writable.append(plugin.data)
    return HookOrigin(call.spec.source, tuple(readable), tuple(writable))


def argv_of(handler: CommandHandler, env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the argument list of a handler. Raises CannotStart if PowerShell is not installed."""
    if handler.args is not None:
        program = fill_placeholders(handler.command, env)
        if program.startswith("~/") and env.get("HOME"):
            program = env["HOME"] + program[1:]
        return (program, *(fill_placeholders(entry, env) for entry in handler.args))
    if handler.shell == "powershell":
        powershell = shutil.which("pwsh", path=_shell_path(env))
        if powershell is None:
            raise CannotStart("pwsh is not on this PATH")
        return (powershell, "-NoProfile", "-NonInteractive", "-Command", handler.command)
    command = fill_single_quoted(handler.command, env)
    if prefix := env.get(SHELL_PREFIX):
        command = f"{prefix} {shlex.quote(command)}"
    return (*shell_argv(env), command)


def shell_argv(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the shell for shell form: bash without any profile, or sh where there is no bash.

    Inline commands are full of arrays and `[[ ]]`; under a plain sh those are syntax errors with
    exit status 2, which would block.
    """
    bash = shutil.which("bash", path=_shell_path(env)) or "/bin/bash"
    if Path(bash).exists():
        return (bash, "--noprofile", "--norc", "-c")
    return ("/bin/sh", "-c")


def _shell_path(env: Mapping[str, str]) -> str | None:
    """Return the search path for shells without the project, which may be untrusted."""
    project = env.get("CLAUDE_PROJECT_DIR")
    path = env.get("PATH")
    return path if project is None else path_outside(path, Path(project))


def _suspicion(handler: CommandHandler, env: Mapping[str, str]) -> str:
    """Return a note where a shell splits an unquoted path with a space; empty otherwise."""
    if handler.args is not None:
        return ""
    match = UNQUOTED_PLACEHOLDER.search(handler.command)
    if match is None:
        return ""
    value = env.get(f"{match.group(1)}_{match.group(2)}", "")
    if not any(character.isspace() for character in value):
        return ""
    return f"{match.group(0)} is not quoted, and {value!r} has a space in it"


def _background_announcement(line: bytes) -> Mapping[str, object] | None:
    """Return the object of a first line `{"async": true, …}`, or None for any other line."""
    if b'"async"' not in line:
        return None
    try:
        announcement = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return (
        announcement
        if isinstance(announcement, dict) and announcement.get("async") is True
        else None
    )


def _async_timeout_s(announcement: Mapping[str, object]) -> float | None:
    """Return how long the handler may continue; None without a usable value."""
    value = announcement.get("asyncTimeout")
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return float(min(value, LONGEST_TIMEOUT_S))
