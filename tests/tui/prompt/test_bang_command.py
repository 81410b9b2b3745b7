"""A command of the user's: it ends when they say so, however early."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agent.events import ToolDispatch, ToolResult
from agent.tools.shell.shells import ShellRegistry
from tui.prompt.bang_command import ShellCommand


async def test_a_command_that_is_ended_before_it_started_ends(tmp_path: Path) -> None:
    shells = ShellRegistry()
    command = ShellCommand(
        "sleep 1000", tmp_path, dict(os.environ), "key", shells=shells, files=tmp_path
    )
    events = command.events()
    assert isinstance(await anext(events), ToolDispatch)
    command.kill()
    async with asyncio.timeout(20):
        rest = [event async for event in events]
    assert isinstance(rest[-1], ToolResult)
    assert rest[-1].outcome == "interrupted"
    assert not shells.has_foreground
