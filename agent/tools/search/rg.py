"""The search program behind Grep and Glob: ripgrep as a child process."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.tools.base import ToolError
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import CHUNK_BYTES, ProcessResult, RunLimits, run_program
from permissions.base.process.spawn import CannotStart

TIMEOUT_S: Final = 30.0
MAX_MEMORY_BYTES: Final = 4 * 1024**3
"""Memory limit of a search: an ignore file can be a link to an endless device."""
MAX_OUTPUT_BYTES: Final = 20 * 1024 * 1024

VCS_DIRECTORIES: Final = (".git", ".hg", ".svn", ".jj")
_IGNORE_FILES: Final = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")
_LIMITS: Final = RunLimits(
    TIMEOUT_S, stdout_bytes=MAX_OUTPUT_BYTES + CHUNK_BYTES, stderr_bytes=4_000
)


@cache
def find_rg(path: str) -> str | None:
    """Return the rg of this installation, else the first in `path`, else None."""
    own = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(own, os.X_OK):
        return str(own)
    neighbor = Path(sys.executable).with_name("rg")
    return str(neighbor) if os.access(neighbor, os.X_OK) else shutil.which("rg", path=path)


def _search_command(programs: ReadingPrograms, arguments: Sequence[str]) -> list[str]:
    return [find_rg(programs.path) or "rg", "--no-config", *arguments]


def file_selection(globs: Sequence[str] = (), file_type: str | None = None) -> list[str]:
    """Return the options that select files: hidden ones too, never those of version control."""
    options = ["--hidden", "--no-require-git"]
    for pattern in globs:
        options.append(f"--glob={pattern}")
    # The last match wins, so no pattern above can include these.
    options += [f"--glob=!**/{directory}/**" for directory in VCS_DIRECTORIES]
    if file_type is not None:
        options.append(f"--type={file_type}")
    return options


class SearchResult(Struct, frozen=True):
    """Raw output of a search, and whether it was ended early."""

    data: bytes
    note: str
    """Why it ended early; empty if it was completed."""


async def search(
    arguments: Sequence[str],
    *,
    directory: Path,
    programs: ReadingPrograms,
    enough: Callable[[bytes], bool] = lambda _: False,
) -> SearchResult:
    """Run a search in a directory and return what it printed, however large the tree is.

    `enough` is asked after each piece of output, with that piece, and ends the search when it
    returns true. Cancelling the task ends the program.

    Raises:
        ToolError: the search could not run, for instance because of a malformed pattern.
    """
    odd = await asyncio.to_thread(_blocking_ignore_file, directory)
    ignore_options = ["--no-ignore"] if odd is not None else []
    ignore_note = f"{odd} is not a regular file: no ignore file is used" if odd is not None else ""
    note = ""
    total = 0

    def is_enough(data: bytes) -> bool:
        nonlocal note, total
        total += len(data)
        if enough(data):
            note = "stopped at the limit"
        elif total > MAX_OUTPUT_BYTES:
            note = "too much output; narrow the search"
        return bool(note)

    command = _search_command(programs, [*ignore_options, *arguments])
    try:
        program = await asyncio.to_thread(
            programs.search, command, directory, memory_bytes=MAX_MEMORY_BYTES
        )
        result = await run_program(program, _LIMITS, is_enough=is_enough)
    except CannotStart as error:
        reason = error.__cause__
        text = reason.strerror if isinstance(reason, OSError) else str(error)
        raise ToolError(f"The search could not be started: {text}.") from error
    return SearchResult(result.stdout, note or _ending_note(result) or ignore_note)


def _ending_note(result: ProcessResult) -> str:
    """Return why a search ended early, or an empty text; raise ToolError if it did not start."""
    if result.timed_out:
        return f"stopped after {TIMEOUT_S:g} s; narrow the search"
    complaint = result.stderr.decode("utf-8", "replace")
    if result.exit_code and not result.stdout and complaint.strip():
        raise ToolError(_explain(complaint))
    if result.exit_code is not None and result.exit_code < 0:
        return f"the search program ended early (signal {-result.exit_code}); not all was searched"
    return ""


async def matching_lines(pattern: str, text: str, programs: ReadingPrograms) -> str:
    """Return the matching lines of a text; uses rg, where no pattern takes exponential time.

    Raises:
        ToolError: the pattern is malformed, or it took too long.
    """
    options = ["--color=never", "--no-line-number", "--", pattern, "-"]
    stdin = text.encode("utf-8", "replace")
    limits = RunLimits(TIMEOUT_S, stdout_bytes=2 * len(stdin) + 1)
    try:
        command = _search_command(programs, options)
        program = await asyncio.to_thread(programs.search, command, stdin=stdin)
        result = await run_program(program, limits)
    except CannotStart as error:
        raise ToolError(f"The filter could not be started: {error}.") from error
    if result.timed_out:
        raise ToolError(f"The filter took longer than {TIMEOUT_S:g} s.")
    if result.exit_code not in (0, 1):
        raise ToolError(_explain(result.stderr.decode("utf-8", "replace")))
    return result.stdout.decode("utf-8", "replace")


def _blocking_ignore_file(directory: Path) -> Path | None:
    """Return an ignore file that rg would block on, such as a pipe; None if there is none.

    Looks only in the directory and above it; one further down makes the search time out.
    """
    for parent in (directory, *directory.parents):
        for name in _IGNORE_FILES:
            path = parent / name
            # Methods of Path would raise if a directory may not be entered.
            if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
                return path
    return None


def _explain(complaint: str) -> str:
    lines = [line.removeprefix("rg: ") for line in complaint.strip().splitlines()]
    return "The search failed: " + ("\n".join(lines[:12]))
