"""The commit of a repository, by which an owner and its workers agree on its content."""

from __future__ import annotations

import os
from pathlib import Path

from agent.orchestration.cluster.agent_queue import QueueError
from agent.prompt.git import run_git
from permissions.base.process.reading_programs import ReadingPrograms


async def repository_commit(root: Path) -> str:
    """Return the commit of a repository. Raises QueueError if tracked files were changed."""
    programs = ReadingPrograms(os.environ, root, lambda program: program)
    commit = await run_git(root, programs, "rev-parse", "--verify", "HEAD")
    status = ("status", "--porcelain", "--untracked-files=no")
    changes = await run_git(root, programs, *status, hashes_files=True)
    if commit is None or changes is None:
        raise QueueError(f"Several machines need a git repository with a commit at {root}.")
    if files := len(changes.splitlines()):
        raise QueueError(
            f"{root} has changes to {files} files that are in no commit: other machines do not "
            "have them. Commit or stash them first."
        )
    return commit.strip()
