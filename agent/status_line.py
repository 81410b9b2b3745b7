"""The status line command: fed the session as JSON, its first lines shown below the prompt.

The JSON is the one that status line scripts know. A newer run ends an older one; a run that hangs
is killed; what it prints is text, whatever it tries.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from agent.commands.context import CommandContext
from agent.sanitize import sanitize

TIMEOUT_S: Final = 5.0
MAX_BYTES: Final = 65_536
MAX_LINES: Final = 3


@dataclass(frozen=True, slots=True)
class StatusText:
    """What a run gave."""

    lines: tuple[str, ...] = ()
    problem: str = ""
    """Why there is nothing to show; for people, once."""


def status_input(context: CommandContext, *, columns: int, title: str = "") -> dict[str, Any]:
    """Return the JSON object that the command gets on standard input."""
    session = context.session
    window = max(1, session.context_window)
    used = min(100.0, 100 * session.context_tokens / window)
    return {
        "hook_event_name": "Status",
        "session_id": session.session_id,
        "session_name": title or None,
        "transcript_path": str(session.transcript_path),
        "cwd": str(session.cwd),
        "version": context.version,
        "model": {"id": session.model, "display_name": session.model.removeprefix("claude-")},
        "workspace": {
            "current_dir": str(session.cwd),
            "project_dir": str(context.settings().project_root),
            "added_dirs": [str(path) for path in context.gate.context.additional_dirs],
        },
        "cost": {"total_cost_usd": session.cost_usd},
        "context_window": {
            "total_input_tokens": session.usage.input_tokens,
            "total_output_tokens": session.usage.output_tokens,
            "context_window_size": session.context_window,
            "used_percentage": round(used, 1),
            "remaining_percentage": round(100 - used, 1),
        },
        "exceeds_200k_tokens": session.context_tokens > 200_000,
        "effort": {"level": session.effort} if session.effort else None,
        "output_style": {"name": "default"},
        "permission_mode": str(session.mode),
        "columns": columns,
    }


async def run_status_command(
    command: str,
    given: Mapping[str, Any],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout_s: float = TIMEOUT_S,
) -> StatusText:
    """Run the command once. Raises nothing but cancellation, which ends the command as well."""
    columns = str(given.get("columns", 80))
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env={**env, "COLUMNS": columns, "LINES": "1"},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return StatusText(problem=f"the status line command cannot start: {error.strerror}")
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(timeout_s):
            with contextlib.suppress(OSError):
                process.stdin.write(json.dumps(given).encode())
                process.stdin.close()
            output = b""
            while len(output) < MAX_BYTES and (data := await process.stdout.read(MAX_BYTES)):
                output += data
    except TimeoutError:
        return StatusText(problem=f"the status line command took longer than {timeout_s:g} s")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    text = sanitize(output[:MAX_BYTES].decode("utf-8", "replace"))
    lines = [" ".join(line.split("\t")).rstrip() for line in text.splitlines()]
    return StatusText(tuple(line for line in lines if line)[:MAX_LINES])
