"""A program that is killed leaves no server behind; one without servers loads nothing of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from permissions.base.process.process_tree import MARK

ROOT: Final = Path(__file__).parents[3]
_RUN: Final = """
import asyncio, json, sys
from pathlib import Path
from tests.agent.mcp.running import plain, running

async def main():
    servers = [plain("forks", name="a"), plain("forks", name="b")]
    async with running(Path(sys.argv[1]), *servers) as hub:
        texts = [
            (await hub.call_tool(name, "echo", {"text": "env"})).content[0]["text"]
            for name in ("a", "b")
        ]
        print(json.dumps([json.loads(text)[sys.argv[2]] for text in texts]), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="marks are found in /proc")
def test_kill_9_leaves_no_server(tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(tmp_path), MARK], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert program.stdout is not None
    with program.stdout:
        marks: list[str] = json.loads(program.stdout.readline())
    assert all(marked(mark) for mark in marks)
    program.send_signal(signal.SIGKILL)
    program.wait()
    # The guardian ends them; the test's own time limit is the limit.
    while any(marked(mark) for mark in marks):
        pass


def marked(mark: str) -> list[str]:
    """Return the processes that carry a mark."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            block = Path("/proc", process, "environ").read_bytes()
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in block:
            found.append(process)
    return found


def test_the_front_door_loads_nothing_of_the_protocol() -> None:
    code = (
        "import sys, agent.mcp.mcp_servers, agent.mcp.bridge.tool_bridge\n"
        "print([name for name in ('mcp', 'mcp_types', 'httpx2', 'jsonschema') "
        "if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert printed.stdout.strip() == "[]"
