"""File suggestions from a command of the user for the text typed after `@`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from permissions.base.process.ask_command import ask_command

TIMEOUT_S: Final = 3.0
LIMIT: Final = 30


async def suggested_files(
    command: str, query: str, *, root: Path, env: Mapping[str, str]
) -> list[str]:
    """Return the paths that the command prints, one a line, in its order.

    It gets `{"query": …}` on standard input and runs in `root`, which it also finds in
    `CLAUDE_PROJECT_DIR`.

    Raises:
        CommandFailed: it could not start or did not end in time.
    """
    text = await ask_command(
        command,
        {"query": query},
        cwd=root,
        env={**env, "CLAUDE_PROJECT_DIR": str(root)},
        timeout_s=TIMEOUT_S,
    )
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return list(dict.fromkeys(line for line in lines if line))[:LIMIT]
