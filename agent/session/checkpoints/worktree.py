"""Finds files that a command may change, and their old content, with git or by a directory walk.

Files committed in git need no copy before a command, as their old content stays in the
repository. So only changed and untracked files are copied first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from permissions.base.files.directory_trees import walk
from permissions.base.process.neutral_git import FILTER_QUERY, repository_filters
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.base.process.run_program import run_blocking
from permissions.base.process.spawn import CannotStart

MAX_FILES: Final = 2_000
MAX_TOTAL_BYTES: Final = 100_000_000
MAX_WALKED: Final = 20_000
TIMEOUT_S: Final = 10.0
_SKIPPED: Final = frozenset(
    {".git", ".hg", ".svn", ".venv", "__pycache__", "node_modules", ".tox", ".mypy_cache"}
)
_SUBMODULES: Final = ("--ignore-submodules=dirty",)
"""Submodules are not entered, as each has its own configuration."""


class Listing(Struct, frozen=True):
    """Files to copy before a command runs."""

    paths: tuple[Path, ...]
    not_covered: tuple[str, ...] = ()
    """What is omitted, for users."""
    head: str | None = None
    """The commit whose files need no copy; None without git."""
    found_paths: frozenset[Path] = frozenset()
    """All files found, including those omitted because of a limit."""
    method: Literal["git", "walk", "walk, incomplete"] = "walk"
    """Two listings are comparable only if both used the same, complete method."""

    def new_since(self, earlier: Listing) -> tuple[Path, ...]:
        """Return files that are not in an earlier listing; empty if they are not comparable."""
        if self.method != earlier.method or self.method == "walk, incomplete":
            return ()
        return tuple(path for path in self.paths if path not in earlier.found_paths)


class Worktree:
    """The project's files. Git runs only if the directory is trusted."""

    def __init__(self, root: Path, programs: ReadingPrograms, *, use_git: bool) -> None:
        """`root` is canonical."""
        self.root = root
        self._programs = programs
        self._use_git = use_git and os.path.exists(root / ".git")

    def changed_files(self) -> Listing:
        """Return changed and untracked files, or all files without git, within the limits."""
        if self._use_git:
            head = self._git("rev-parse", "--verify", "-q", "HEAD")
            status = self._compare(
                "status", "--porcelain=v1", "-z", "--untracked-files=all", *_SUBMODULES
            )
            if status is not None:
                names = [self.root / name for name in _status_names(status)]
                commit = head.decode("ascii", "replace").strip() if head else None
                within_limits, not_covered = _limit_files(names)
                return Listing(
                    within_limits,
                    (*not_covered, "files that git ignores"),
                    commit or None,
                    frozenset(names),
                    "git",
                )
        all_files = list(islice(self._walk(), MAX_WALKED + 1))
        is_complete = len(all_files) <= MAX_WALKED
        within_limits, not_covered = _limit_files(all_files[:MAX_WALKED])
        if not is_complete:
            not_covered = (*not_covered, f"files beyond the first {MAX_WALKED:,}")
        return Listing(
            within_limits,
            not_covered,
            None,
            frozenset(all_files),
            "walk" if is_complete else "walk, incomplete",
        )

    def changed_since(self, head: str) -> tuple[Path, ...]:
        """Return tracked files that currently differ from a commit."""
        options = ("--name-only", "-z", "--no-renames", "--no-ext-diff", *_SUBMODULES)
        names = self._compare("diff", *options, head)
        return tuple(self.root / os.fsdecode(n) for n in (names or b"").split(b"\0") if n)

    def at_commit(self, head: str, path: Path) -> tuple[bytes, int] | None:
        """Return content and mode of a file in a commit; None if it is not in it."""
        relative = str(path.relative_to(self.root))
        entry = self._git("ls-tree", "-z", head, "--", relative)
        if not entry:
            return None
        mode = int(entry.split(b" ", 1)[0], 8)
        if not stat.S_ISREG(mode):
            return None
        # With the accepted filters, as their output is what was on disk.
        data = self._git("cat-file", "--filters", f"{head}:{relative}")
        return None if data is None else (data, mode & 0o777)

    def _walk(self) -> Iterator[Path]:
        for where, directories, files in walk(self.root):
            directories[:] = sorted(name for name in directories if name not in _SKIPPED)
            for name in sorted(files):
                yield Path(where, name)

    def _compare(self, *arguments: str) -> bytes | None:
        """Return the output of a command that hashes files, without the repository's filters."""
        listing = self._git(*FILTER_QUERY)
        if listing is None:
            return None
        return self._git(*arguments, without_filters=repository_filters(listing))

    def _git(self, *arguments: str, without_filters: Iterable[str] = ()) -> bytes | None:
        try:
            program = self._programs.git(
                self.root, "--literal-pathspecs", *arguments, without_filters=without_filters
            )
            result = run_blocking(program, timeout_s=TIMEOUT_S)
        except CannotStart:
            return None
        return result.stdout if result.exit_code == 0 else None


def _limit_files(paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return the files within the limits, and a note about omitted ones."""
    within_limits: list[Path] = []
    total = 0
    left_out = 0
    for path in paths:
        try:
            size = path.lstat().st_size
        except OSError:
            size = 0
        if len(within_limits) >= MAX_FILES or total + size > MAX_TOTAL_BYTES:
            left_out += 1
            continue
        within_limits.append(path)
        total += size
    if not left_out:
        return tuple(within_limits), ()
    return tuple(within_limits), (f"{left_out:,} files beyond the limit of what is copied",)


def _status_names(status: bytes) -> Iterator[str]:
    entries = iter(status.split(b"\0"))
    for entry in entries:
        if len(entry) < 4:
            continue
        yield os.fsdecode(entry[3:])
        if entry[:1] in (b"R", b"C"):
            # The old name follows; its content is in the commit.
            old = next(entries, b"")
            if old:
                yield os.fsdecode(old)
