"""A command of the user's settings that is asked something: JSON in, text out, for a moment."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 65_536


class CommandFailed(Exception):
    """It could not start or did not end; the text goes on behind what the command is called."""


async def ask_command(
    command: str, given: Mapping[str, Any], *, cwd: Path, env: Mapping[str, str], timeout_s: float
) -> str:
    """Run a command once with an object on standard input; return what it printed, at most 64 KiB.

    It and what it started are ended afterwards, also when the wait is cancelled.

    Raises:
        CommandFailed: says why.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise CommandFailed(f"cannot start: {error.strerror}") from error
    except ValueError as error:
        # A NUL in the setting or in a variable.
        raise CommandFailed(f"cannot start: {error}") from error
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
    except TimeoutError as error:
        raise CommandFailed(f"took longer than {timeout_s:g} s") from error
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return output[:MAX_BYTES].decode("utf-8", "surrogateescape")
