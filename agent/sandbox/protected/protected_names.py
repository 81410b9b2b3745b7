"""Finds the protected names in a writable directory, and those that a run created.

Scanning every file before and after each command would take too long in a large project. The change
time of a directory tells whether it must be read again.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from permissions.base.files.without_links import open_directory, open_up
from permissions.paths.protected_paths import (
    PROTECTED_DIRS,
    PROTECTED_FILES,
    Protection,
    protection_of,
)
from permissions.paths.resolve import is_below

MAX_DIRECTORIES: Final = 5_000
"""Maximum number of directories searched, least deep first; the same again for those of a run."""
SKIPPED: Final = frozenset({"node_modules", ".venv", "venv", "__pycache__", "target", ".tox"})
NAMES: Final = PROTECTED_DIRS | PROTECTED_FILES
_LOOKING: Final = stat.S_IRUSR | stat.S_IXUSR
_UNSETTLED_NS: Final = 100_000_000
"""A directory that changed this recently before it was read may have changed again unnoticed."""

_State = tuple[int, int, int]


class _Directory(Struct, frozen=True):
    state: _State
    """Device, inode number and change time in nanoseconds."""
    is_settled: bool
    names: tuple[str, ...] = ()
    """Paths of protected names in it."""
    inside: tuple[str, ...] = ()
    """Paths of its subdirectories to search."""
    is_closed: bool = False
    """Whether its owner may not read it."""
    may_be_bare: bool = False
    """Whether git may take it for a bare repository."""


class Found(Struct, frozen=True):
    """The protected names below one directory at one time."""

    names: tuple[str, ...]
    """Absolute paths, those less deep first."""
    directories: Mapping[str, _Directory]
    """All searched directories by path."""
    is_complete: bool
    """Whether every directory was searched."""

    def made_since(self, previous: Found) -> Iterator[str]:
        """Yield the names that did not exist before.

        Skips names in a newly created repository such as a clone, which affects nothing else;
        repositories themselves; and empty directories, which may be placeholders of another
        command.
        """
        old_names = frozenset(previous.names)
        new_names = [
            path for path in self.names if path not in old_names and not is_repository(path)
        ]
        own = self._repositories_since(previous) if new_names else set()
        for path in new_names:
            # A name in a directory that was never searched may have existed.
            was = previous.directories.get(os.path.dirname(path))
            is_known = previous.is_complete if was is None else not was.is_closed
            if is_known and own.isdisjoint(_above(path)) and not _is_empty(path):
                yield path

    def repositories_since(self, previous: Found) -> Iterator[str]:
        """Yield each new `.git` in a directory that existed before, and each such directory that
        became a repository itself."""
        old_names = frozenset(previous.names)
        for path in self.names:
            is_over_files = os.path.dirname(path) in previous.directories
            if is_over_files and is_repository(path) and path not in old_names:
                yield path
        for path, directory in self.directories.items():
            was = previous.directories.get(path)
            if directory.may_be_bare and was is not None and not was.may_be_bare:
                yield path

    def _repositories_since(self, previous: Found) -> set[str]:
        """Return the new directories that contain a repository."""
        numbers = {one.state[:2] for one in previous.directories.values()}
        parents = {os.path.dirname(path) for path in self.names if is_repository(path)}
        return {
            one
            for one in parents - previous.directories.keys()
            if self.directories[one].state[:2] not in numbers
        }


def is_repository(path: str) -> bool:
    """Whether a path names a `.git`, in upper or lower case."""
    return os.path.basename(path).lower() == ".git"


def _is_empty(path: str) -> bool:
    try:
        with os.scandir(path) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def _above(path: str) -> Iterator[str]:
    while len(path) > 1:
        path = os.path.dirname(path)
        yield path


class NameSearch:
    """Searches for protected names; caches what it read. Safe to use from several threads."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._read: dict[str, Mapping[str, _Directory]] = {}
        self._lock = threading.Lock()

    def find(self, root: str, cwd: str, earlier: Found | None = None) -> Found:
        """Search below a canonical directory, around `cwd` first. Raises nothing.

        Args:
            earlier: The result before a run. Directories that were made unreadable since then are
                made readable again.
        """
        with self._lock:
            old_directories = self._read.get(root, {})
            directories: dict[str, _Directory] = {}
            parents = (one for one in (cwd, *_above(cwd)) if is_below(one, root))
            first, later, limit = deque([*parents, root]), deque[str](), MAX_DIRECTORIES
            while (first or later) and len(directories) < limit:
                path = first.popleft() if first else later.popleft()
                if path in directories:
                    continue
                directory = _looked_at(path, old_directories.get(path))
                if directory is not None and directory.is_closed and earlier is not None:
                    directory = _opened_up(path, directory, earlier.directories.get(path))
                if directory is None:
                    continue
                directories[path] = directory
                for one in directory.inside:
                    # New directories must not push older ones over the limit.
                    (first if not old_directories or one in old_directories else later).append(one)
                if not first and limit == MAX_DIRECTORIES:
                    limit = len(directories) + MAX_DIRECTORIES
            self._read[root] = directories
        names = [path for one in directories.values() for path in one.names]
        return Found(tuple(sorted(names, key=_depth)), directories, not (first or later))


def _depth(path: str) -> int:
    return path.count("/")


def _looked_at(path: str, previous: _Directory | None) -> _Directory | None:
    """Return the content of a directory; None if it is not a directory or cannot be read."""
    try:
        status = os.lstat(path)
        if not stat.S_ISDIR(status.st_mode):
            return None
        state = status.st_dev, status.st_ino, status.st_ctime_ns
        if previous is not None and previous.is_settled and previous.state == state:
            return previous
        is_settled = time.time_ns() - status.st_ctime_ns > _UNSETTLED_NS
        if status.st_mode & _LOOKING != _LOOKING and not os.access(
            path, os.R_OK | os.X_OK, effective_ids=True
        ):
            return _Directory(state, is_settled, is_closed=True)
        with os.scandir(path) as entries:
            return _read(entries, state, is_settled)
    except OSError:
        return None


def _opened_up(path: str, directory: _Directory, was: _Directory | None) -> _Directory | None:
    """Make a closed directory readable if it is new or was changed, and return its content."""
    if was is not None and was.state == directory.state:
        return directory
    try:
        descriptor = open_directory(path)
        try:
            open_up(descriptor)
        finally:
            os.close(descriptor)
    except OSError:
        return directory
    return _looked_at(path, None)


def _read(entries: Iterable[os.DirEntry[str]], state: _State, is_settled: bool) -> _Directory:
    names, inside, may_be_bare = [], [], False
    for entry in entries:
        if is_protected(entry.name):
            names.append(entry.path)
        elif entry.is_dir(follow_symlinks=False) and entry.name not in SKIPPED:
            inside.append(entry.path)
        may_be_bare = may_be_bare or entry.name == "HEAD"
    return _Directory(state, is_settled, tuple(names), tuple(inside), may_be_bare=may_be_bare)


def is_protected(name: str) -> bool:
    """Whether a file name is protected, in any spelling."""
    if name.isascii():
        return name.lower() in NAMES
    return protection_of(name) is not Protection.NONE
