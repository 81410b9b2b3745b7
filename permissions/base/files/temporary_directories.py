"""Temporary directories of a process; those of a killed process are removed by the next one."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.base.files.directory_trees import remove_tree

SETTLED_S: Final = 60.0
"""A directory younger than this may not have its lock yet."""

_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class OwnedDirectory(Struct, frozen=True):
    """A private directory, locked for as long as its owner lives."""

    path: Path
    _descriptor: int

    def remove(self) -> None:
        """Remove it with all that is in it. Raises nothing."""
        with contextlib.suppress(OSError):
            remove_tree(self.path)
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def make_owned_directory(prefix: str) -> OwnedDirectory:
    """Create a directory, and remove those of the same prefix whose owners have ended.

    Raises:
        OSError: no temporary directory can be created.
    """
    _sweep(Path(tempfile.gettempdir()), prefix)
    path = Path(tempfile.mkdtemp(prefix=prefix))
    descriptor = os.open(path, _FLAGS)
    with contextlib.suppress(OSError):
        # Without locks, no directory is ever considered unused, either.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return OwnedDirectory(path, descriptor)


def _sweep(parent: Path, prefix: str) -> None:
    try:
        names = [entry.name for entry in os.scandir(parent) if entry.name.startswith(prefix)]
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            descriptor = os.open(parent / name, _FLAGS)
            try:
                if _is_dead(descriptor):
                    remove_tree(parent / name)
            finally:
                os.close(descriptor)


def _is_dead(descriptor: int) -> bool:
    """Return whether the directory is this user's and not in use. Raises OSError if it is
    locked."""
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        return False
    if time.time() - status.st_mtime < SETTLED_S:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return True
