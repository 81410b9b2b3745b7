"""The installed program as a process of its own, pointed at a scripted server."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from watchfiles import awatch

from tests.journeys.forked_program import ROOT, ForkedProgram, can_fork, fork_program


def environment(home: Path, base_url: str | None = None, **more: str) -> dict[str, str]:
    """A fresh user's environment, with the model at `base_url`."""
    env = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "TMPDIR": tempfile.gettempdir(),
        # A busy machine takes longer to start a server than a user waits for it.
        "MCP_CONNECT_TIMEOUT_MS": "60000",
        "MCP_TIMEOUT": "60000",
    }
    if base_url is not None:
        env |= {
            "ANTHROPIC_BASE_URL": base_url,
            "ANTHROPIC_API_KEY": "test-key",
            "ANTHROPIC_MODEL": "claude-opus-5-5",
        }
    return {**env, **more}


Started = ForkedProgram | asyncio.subprocess.Process


async def start(*arguments: str, cwd: Path, env: dict[str, str], stdin: bool = False) -> Started:
    """Start `agent-tui` with these arguments, forked where that makes no difference."""
    if can_fork(env):
        return await fork_program(arguments, cwd, env, stdin=stdin)
    return await start_interpreter(*arguments, cwd=cwd, env=env, stdin=stdin)


async def start_interpreter(
    *arguments: str, cwd: Path, env: dict[str, str], stdin: bool = False
) -> asyncio.subprocess.Process:
    """Start `agent-tui` with these arguments in an interpreter of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tui.cli",
        *arguments,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.PIPE if stdin else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def appeared(path: Path) -> None:
    """Return once a file is there."""
    async for _ in awatch(
        path.parent, debounce=10, step=10, yield_on_timeout=True, rust_timeout=50
    ):
        if path.exists():
            return


async def run(
    *arguments: str, cwd: Path, env: dict[str, str], stdin: str | None = None
) -> tuple[int, str, str]:
    """Run `agent-tui` to its end; returns exit status, standard output and standard error."""
    given = None if stdin is None else stdin.encode()
    process = await start(*arguments, cwd=cwd, env=env, stdin=stdin is not None)
    out, err = await process.communicate(given)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


def showing(text: str) -> list[str]:
    """The commands of all processes in whose environment this user can read a text."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if text.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # gone, or closed to this user
    return found
