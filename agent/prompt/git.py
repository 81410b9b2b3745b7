"""A look at the repository: by reading a file before trust, by asking git after it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.prompt.prompt_context import GitState
from permissions.base.files.plain_file import read_plain, read_start
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

MAX_STATUS_LINES: Final = 30
MAX_COMMITS: Final = 5
MAX_OUTPUT_BYTES: Final = 1_000_000
TIMEOUT_S: Final = 3.0
_HARMLESS: Final = (
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.quotePath=false",
    "-c",
    "protocol.allow=never",
    "--no-optional-locks",
    "--no-pager",
)


def read_branch(project_root: Path) -> str | None:
    """Return the checked-out branch from git's own file: no program runs, no configuration counts.

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


async def read_git_state(directory: Path, env: Mapping[str, str]) -> GitState | None:
    """Ask git for branch, changes and last commits; None where that fails or takes too long.

    Only for a trusted folder: even with hooks and monitors off, a repository's configuration names
    programs that git runs.
    """
    status, log = await asyncio.gather(
        run_git(directory, env, "status", "--porcelain=v1", "--branch", "--untracked-files=normal"),
        run_git(directory, env, "log", f"-{MAX_COMMITS}", "--no-show-signature", "--format=%h %s"),
    )
    if status is None:
        return None
    head, *changed = status.splitlines() or [""]
    commits = tuple((log or "").splitlines())
    return GitState(
        branch=_branch(head),
        head=commits[0] if commits else "",
        changed=tuple(changed[:MAX_STATUS_LINES]),
        changed_count=len(changed),
        recent=commits,
    )


def _branch(line: str) -> str | None:
    name = line.removeprefix("## ").removeprefix("No commits yet on ").split("...")[0]
    return None if name.startswith("HEAD (") else name.split(" [")[0] or None


async def run_git(
    directory: Path, env: Mapping[str, str], *arguments: str, errors: str = "replace"
) -> str | None:
    """Return what a git command prints; None where it fails or takes too long.

    `errors` is what bytes become that are no UTF-8, as for `bytes.decode`.
    """
    quiet = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    inherited = {k: v for k, v in env.items() if not k.startswith("GIT_")}
    program = Launch(("git", *_HARMLESS, *arguments), {**inherited, **quiet}, directory)
    limits = RunLimits(TIMEOUT_S, stdout_bytes=MAX_OUTPUT_BYTES, stderr_bytes=0)
    try:
        ended = await run_program(program, limits)
    except CannotStart:
        return None
    return ended.stdout.decode("utf-8", errors) if ended.exit_code == 0 else None
