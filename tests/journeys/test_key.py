"""The key of the endpoint: no process of the program shows it to others."""

from __future__ import annotations

import asyncio
import os
import sys
import uuid
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment, showing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SECRETS = ("ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MY_PASSWORD")
CONSOLE_SCRIPT = str(Path(sys.executable).with_name("agent-tui"))


@pytest.mark.parametrize(
    "program",
    [(sys.executable, "-m", "tui.cli"), (CONSOLE_SCRIPT,)],
    ids=["module", "console-script"],
)
async def test_f12_no_process_shows_the_key_while_a_command_runs(
    tmp_path: Path, fresh_home: Path, program: tuple[str, ...]
) -> None:
    key = f"sk-ant-{uuid.uuid4()}"
    project = tmp_path / "project"
    project.mkdir()
    os.mkfifo(project / "fifo")
    turns = (
        Turn((ToolCall("Bash", {"command": "cat fifo"}),)),
        Turn((Text("done"),)),
    )
    async with ScriptedServer(Scenario(turns=turns)) as server:
        running = await asyncio.create_subprocess_exec(
            *program,
            "-p",
            "go",
            "--allow",
            "Bash(cat fifo)",
            cwd=project,
            env=environment(fresh_home, server.base_url, **dict.fromkeys(SECRETS, key)),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        # Returns once the command reads: everything that the program starts has started.
        with await asyncio.to_thread((project / "fifo").open, "wb"):
            assert await asyncio.to_thread(showing, key) == []
            if os.geteuid() != 0:
                # Other processes of this user cannot look into it at all.
                with pytest.raises(PermissionError):
                    Path(f"/proc/{running.pid}/environ").read_bytes()
        out, err = await running.communicate()
    assert (out, running.returncode) == (b"done\n", 0), err
    assert key in server.requests[-1].headers["authorization"]
