"""The state of the repository: before trust from a file, after trust from git."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from agent.prompt.prompt_context import GitState
from permissions.base.files.plain_file import read_plain, read_start
from permissions.base.process.neutral_git import FILTER_QUERY, repository_filters
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart

MAX_STATUS_LINES: Final = 30
MAX_COMMITS: Final = 5
MAX_OUTPUT_BYTES: Final = 1_000_000
TIMEOUT_S: Final = 3.0


def read_branch(project_root: Path) -> str | None:
    """Return the checked-out branch from git's own file; runs no program, uses no configuration.

    None with a detached head or outside a repository.
    """
    git_dir = project_root / ".git"
    try:
        if git_dir.is_file():
            target = read_plain(git_dir).decode("utf-8").strip().removeprefix("gitdir:").strip()
            git_dir = (project_root / target).resolve()
        head = read_start(git_dir / "HEAD", 4096).decode("utf-8", "replace").strip()
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    prefix = "ref: refs/heads/"
    return head.removeprefix(prefix) if head.startswith(prefix) else None


async def read_git_state(directory: Path, programs: ReadingPrograms) -> GitState | None:
    """Ask git for branch, changes and last commits; None if that fails or takes too long.

    Only call it if the directory is trusted, or contains nothing that needs trust.
    """
    status, log = await asyncio.gather(
        run_git(
            directory,
            programs,
            "status",
            "--porcelain=v1",
            "--branch",
            "--untracked-files=normal",
            hashes_files=True,
        ),
        run_git(
            directory, programs, "log", f"-{MAX_COMMITS}", "--no-show-signature", "--format=%h %s"
        ),
    )
    if status is None:
        return None
    head, *changes = status.splitlines() or [""]
    commits = tuple((log or "").splitlines())
    return GitState(
        branch=_branch(head),
        head=commits[0] if commits else "",
        status_lines=tuple(changes[:MAX_STATUS_LINES]),
        changed_count=len(changes),
        recent=commits,
    )


def _branch(line: str) -> str | None:
    name = line.removeprefix("## ").removeprefix("No commits yet on ").split("...")[0]
    return None if name.startswith("HEAD (") else name.split(" [")[0] or None


async def run_git(
    directory: Path,
    programs: ReadingPrograms,
    *arguments: str,
    errors: str = "replace",
    hashes_files: bool = False,
) -> str | None:
    """Return the output of a git command; None if it fails or takes too long.

    `errors` says how to handle invalid UTF-8, as in `bytes.decode`. A command that hashes files
    (`status`, `diff`) would run the repository's filters, so they are switched off; submodules are
    not entered, because each has its own configuration.
    """
    filters = frozenset[str]()
    if hashes_files:
        listing = await _output(programs, directory, FILTER_QUERY)
        if listing is None:
            return None
        filters = repository_filters(listing)
        arguments = (arguments[0], "--ignore-submodules=dirty", *arguments[1:])
    output = await _output(programs, directory, arguments, filters)
    return None if output is None else output.decode("utf-8", errors)


async def _output(
    programs: ReadingPrograms,
    directory: Path,
    arguments: Sequence[str],
    without_filters: Iterable[str] = (),
) -> bytes | None:
    limits = RunLimits(TIMEOUT_S, stdout_bytes=MAX_OUTPUT_BYTES, stderr_bytes=0)
    try:
        # In a thread: preparing the confinement reads directories, which takes milliseconds.
        program = await asyncio.to_thread(
            programs.git, directory, *arguments, without_filters=without_filters
        )
        result = await run_program(program, limits)
    except CannotStart:
        return None
    return result.stdout if result.exit_code == 0 else None
