"""The environment of commands that were allowed because they only read.

Git would run programs that the repository configures: its monitor, hooks and transports never run
here, and its filters only if the user trusts the directory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from permissions.base.process.neutral_git import (
    FILTER_QUERY,
    filters_off,
    repository_filters,
    with_git_values,
    with_neutral_git,
)
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart

_LIMITS: Final = RunLimits(3.0, stderr_bytes=0)


async def reading_environment(
    env: Mapping[str, str],
    command: str,
    *,
    cwd: Path,
    programs: ReadingPrograms,
    is_trusted: bool,
) -> dict[str, str]:
    """Return the environment for a command that starts in `cwd`; raises nothing."""
    neutral = with_neutral_git(env)
    if is_trusted or "git" not in command:
        return neutral
    try:
        query = await asyncio.to_thread(programs.git, cwd, *FILTER_QUERY)
        result = await run_program(query, _LIMITS)
    except CannotStart:
        return neutral
    return with_git_values(neutral, filters_off(repository_filters(result.stdout)))
