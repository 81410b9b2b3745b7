"""Repositories that a run created where git finds them, and whose configuration runs programs.

The user's shell prompt or editor may query git at any time. Git descends into submodules: an index
entry and a repository at its path are enough, at any depth. And in a directory with a repository of
its own, git uses that one instead of the project's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from agent.sandbox.policy import SandboxPolicy
from agent.sandbox.protected.protected_names import is_repository
from agent.settings.git_config import directory_items, git_items
from agent.settings.trust import TrustItem
from permissions.base.files.plain_file import read_plain
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotStart
from permissions.paths.resolve import is_below

TIMEOUT_S: Final = 3.0
MAX_INDEX_BYTES: Final = 200_000_000
_SUBMODULE_MODE: Final = (0o160000).to_bytes(4, "big")


def what_runs(
    repositories: Iterable[str], policy: SandboxPolicy, programs: ReadingPrograms
) -> Iterator[str]:
    """Yield the files by which repositories make git run something; for one outside the repository
    and not protected, the `.git` or `HEAD` that leads there.

    Args:
        repositories: Paths of `.git`, or of directories that are repositories themselves.
        policy: Of the run that created them.
    """
    for path in repositories:
        is_bare = not is_repository(path)
        marker = os.path.join(path, "HEAD") if is_bare else path
        directory = Path(os.path.dirname(marker))
        for one in _that_run((directory_items if is_bare else git_items)(directory, programs)):
            file = None if one.file is None else os.path.realpath(one.file)
            if file is None or not any(is_below(file, place) for place in policy.read_only):
                yield marker if file is None or not is_below(file, path) else file


def _that_run(items: Iterable[TrustItem]) -> Iterator[TrustItem]:
    """Drop `core.worktree`, which every submodule sets."""
    return (one for one in items if not one.label.startswith("git core.worktree = "))


class SubmoduleSearch:
    """Finds submodules whose configuration runs programs; caches what it read per index file."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._by_index: dict[str, tuple[tuple[int, int, int], list[str]]] = {}

    def find_planted(self, policy: SandboxPolicy, programs: ReadingPrograms) -> list[str]:
        """Return the `.git` of each submodule that a run under a policy may have created or
        changed, and whose configuration runs a program."""
        paths = []
        for root in policy.write_roots:
            for name in self._submodules(root, programs):
                path = os.path.join(root, name, ".git")
                if (
                    path in policy.read_only
                    or path in policy.pinned_directories
                    or not os.path.lexists(path)
                ):
                    continue
                if any(_that_run(git_items(Path(root, name), programs))):
                    paths.append(path)
        return paths

    def _submodules(self, root: str, programs: ReadingPrograms) -> list[str]:
        try:
            index = os.path.join(_git_directory(root), "index")
            status = os.stat(index)
            state = status.st_ino, status.st_size, status.st_mtime_ns
            entry = self._by_index.get(index)
            if entry is None or entry[0] != state:
                may_have = _SUBMODULE_MODE in read_plain(index, MAX_INDEX_BYTES)
                entry = state, _list_submodules(root, programs) if may_have else []
                self._by_index[index] = entry
        except OSError:
            return []
        return entry[1]


def _git_directory(root: str) -> str:
    """Return the `.git` directory, or the private one of a linked work tree. Raises OSError."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    line = os.fsdecode(read_plain(path)).partition("\n")[0]
    return os.path.join(root, line.removeprefix("gitdir:").strip())


def _list_submodules(root: str, programs: ReadingPrograms) -> list[str]:
    try:
        result = run_blocking(
            programs.git(Path(root), "ls-files", "--stage", "-z"), timeout_s=TIMEOUT_S
        )
    except CannotStart:
        return []
    lines = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    return [line.partition("\t")[2] for line in lines if line.startswith("160000 ")]
