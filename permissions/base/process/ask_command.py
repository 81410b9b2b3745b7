"""Run a command of the user's settings once: JSON on standard input, text on standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.safe_python import safe_python
from permissions.base.process.spawn import CannotStart, shell_launch

MAX_BYTES: Final = 65_536


class CommandFailed(Exception):
    """A command could not start or did not exit in time; the message continues a sentence about
    it."""


async def ask_command(
    command: str,
    question: Mapping[str, Any],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float,
) -> str:
    """Run a command once with an object on standard input; return its output, at most 64 KiB.

    The command and its descendants are ended afterwards, even if the wait is cancelled.

    Raises:
        CommandFailed: the text is the reason.
    """
    program = shell_launch(
        command,
        env={**env, **safe_python(command, env)},
        cwd=cwd,
        stdin=json.dumps(question).encode(),
    )
    limits = RunLimits(timeout_s, stdout_bytes=MAX_BYTES, stderr_bytes=0, stops_at_limit=True)
    try:
        result = await run_program(program, limits)
    except CannotStart as error:
        reason = error.__cause__
        text = reason.strerror if isinstance(reason, OSError) else str(error)
        raise CommandFailed(f"cannot start: {text}") from error
    if result.timed_out:
        raise CommandFailed(f"took longer than {timeout_s:g} s")
    return result.stdout.decode("utf-8", "surrogateescape")
