"""`/debug`: the debug log of this session, or how to start one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from agent.commands.command_context import CommandContext
from agent.commands.command_results import CommandResult, ShowText
from agent.observe.debug_log import debug_path
from permissions.base.text.sanitize import sanitize

SHOWN_LINES: Final = 15
TAIL_BYTES: Final = 32_768


async def call(_arguments: str, context: CommandContext) -> CommandResult:
    """Show the log's path and its last lines; a log cannot be started later."""
    session_id = context.session.session_id
    path = debug_path(context.agent_home, session_id)
    lines = await asyncio.to_thread(_last_lines, path)
    if lines is None:
        return ShowText(
            "This session has no debug log. To continue with one: "
            f"agent-tui --debug -r {session_id}"
        )
    return ShowText("\n".join([str(path), *lines]))


def _last_lines(path: Path) -> list[str] | None:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = file.read(TAIL_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    return [sanitize(line)[:300] for line in text.splitlines()[-SHOWN_LINES:]]
