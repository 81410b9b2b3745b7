"""`agent-tui hooks run`, ended while a hook runs: nothing of it is left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest

from tests.journeys import program


async def hook_started(directory: Path, handler: dict[str, object]) -> program.Started:
    """Return `hooks run Stop` with this handler, told to go on."""
    settings = directory / "hooks.json"
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [handler]}]}}))
    process = await program.start(
        "hooks", "run", "Stop", "--settings", str(settings),
        cwd=directory, env=program.environment(directory), stdin=True,
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(b"{}\n")
    await process.stdin.drain()
    return process


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_signal_ends_the_hooks_with_the_command(
    tmp_path: Path, number: int, status: int, is_async: bool
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    handler = {
        "type": "command",
        "command": f'echo $$ > "{started}"; exec sleep 600',
        "async": is_async,
    }
    process = await hook_started(tmp_path, handler)
    hook_pid = int(await asyncio.to_thread(started.read_text))
    if is_async:  # the line is written when nobody waits for the hook any more
        assert process.stdout is not None
        await process.stdout.readline()

    process.send_signal(number)

    assert await process.wait() == status
    with pytest.raises(ProcessLookupError):
        os.kill(hook_pid, 0)


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_kill_ends_the_hooks_too(tmp_path: Path, is_async: bool) -> None:
    held_path = tmp_path / "held"
    os.mkfifo(held_path)
    command = f'exec > "{held_path}"; echo started; trap "" TERM; setsid sleep 600; sleep 601'
    handler = {"type": "command", "command": command, "async": is_async}
    process = await hook_started(tmp_path, handler)
    held = await asyncio.to_thread(open, held_path, "rb")
    with held:
        assert await asyncio.to_thread(held.readline) == b"started\n"

        process.kill()

        await process.communicate()
        assert process.returncode == -signal.SIGKILL
        # Its end comes when nobody holds the other side any more.
        assert await asyncio.to_thread(held.read) == b""
