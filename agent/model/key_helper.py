"""Runs the command of the `apiKeyHelper` setting, which prints a key."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from agent.model.client import ModelError

HELPER_TIMEOUT_S: Final = 30.0


async def read_helper_key(command: str, *, env: Mapping[str, str]) -> str:
    """Return the first line that the command prints.

    The command comes from user or policy settings, never from a project.

    Raises:
        ModelError: it failed, printed nothing, or took too long; its output is not repeated.
    """
    process = await asyncio.create_subprocess_shell(
        command,
        env=dict(env),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), HELPER_TIMEOUT_S)
    except TimeoutError:
        raise _failed(f"took longer than {HELPER_TIMEOUT_S:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise _failed(f"ended with exit status {process.returncode}")
    lines = output.decode("utf-8", "replace").strip().splitlines()
    if not lines or not lines[0].strip():
        raise _failed("printed no key")
    return lines[0].strip()


def _failed(what: str) -> ModelError:
    return ModelError("not_configured", f"The command of the apiKeyHelper setting {what}.")
