"""`agent-tui mcp serve`: reading tools for other programs, within the directory and the rules."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from agent.mcp.configuration.server_definition import Era
from tests.agent.mcp.running import definition, of, running

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
async def test_other_programs_read_here_and_nowhere_else(tmp_path: Path, protocol: Era) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    (project / ".agent").mkdir(parents=True)
    (project / ".git").mkdir()
    home.mkdir()
    (project / "note.txt").write_text("a line about bees\n")
    (project / "secret.txt").write_text("hidden bees\n")
    (tmp_path / "outside.txt").write_text("other bees\n")
    (project / ".agent" / "settings.json").write_text(
        '{"permissions": {"deny": ["Read(secret.txt)"]}}'
    )
    server = definition(
        {
            "name": "ours",
            "command": sys.executable,
            "args": (str(ROOT / "agent_tui.py"), "mcp", "serve"),
            "env": {"HOME": str(home), "PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
            "cwd": project,
            "protocol": protocol,
        }
    )
    async with running(tmp_path, server) as servers:
        view = of(servers, "ours")
        assert [tool.name for tool in view.tools] == ["Read", "Glob", "Grep"], view.detail

        async def call(tool: str, **arguments: object) -> tuple[bool, str]:
            result = await servers.call_tool("ours", tool, arguments)
            return result.is_error, str(result.content[0]["text"])

        assert "bees" in (await call("Read", file_path=str(project / "note.txt")))[1]
        assert (await call("Read", file_path=str(project / "secret.txt")))[0]
        assert (await call("Read", file_path=str(tmp_path / "outside.txt")))[0]
        is_error, found = await call("Grep", pattern="bees", output_mode="content")
        assert not is_error
        assert "a line about bees" in found
        assert "hidden" not in found
        assert "note.txt" in (await call("Glob", pattern="*.txt"))[1]
        assert (await call("Read", wrong=1))[0]
        assert (await call("Bash", command="true"))[0]
