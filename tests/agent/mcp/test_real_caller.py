"""A program on the TypeScript Agent SDK that offers tools of its own, in its own process.

Skipped, with the reason, where the SDK is not installed.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.model.scripted.server import ScriptedServer
from tests.journeys.program import environment

PACKAGES = Path(sys.prefix) / "mcp-servers" / "node_modules"
CALLER = Path(__file__).with_name("calling_program.mjs")
TURNS = (
    Turn((ToolCall("mcp__calc__add", {"a": 20, "b": 22}),)),
    Turn((Text("It is 42."),), times=0),
)


async def test_tools_of_a_calling_program_are_called_there(
    tmp_path: Path, fresh_home: Path
) -> None:
    node = shutil.which("node")
    if node is None or not (PACKAGES / "@anthropic-ai" / "claude-agent-sdk").exists():
        pytest.skip("claude-agent-sdk is not installed; `make conformance` installs it")
    # Packages are looked for beside the file that imports them.
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    caller = tmp_path / CALLER.name
    caller.write_text(CALLER.read_text())
    program = Path(sys.prefix) / "bin" / "agent-tui"
    async with ScriptedServer(Scenario(turns=TURNS)) as server:
        running = await asyncio.create_subprocess_exec(
            node, str(caller), str(program), str(tmp_path),
            env=environment(fresh_home, server.base_url),
            stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        printed, _ = await running.communicate()
    first, *_, last = (json.loads(line) for line in printed.splitlines())
    assert first["mcp_servers"] == [{"name": "calc", "status": "connected"}]
    assert "mcp__calc__add" in first["tools"]
    assert last["result"] == "It is 42."
    assert "the sum is 42" in json.dumps(server.requests[-1].body["messages"])
