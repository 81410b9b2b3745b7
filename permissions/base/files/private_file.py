"""Writes files that only this user may read: atomically, with a lock against concurrent changes."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


def make_private_dir(path: Path) -> None:
    """Create a directory for this user alone (0700), parents included. Raises OSError."""
    missing = [path, *path.parents]
    for directory in reversed(missing):
        if not directory.is_dir():
            with contextlib.suppress(FileExistsError):
                directory.mkdir(mode=0o700)


def make_real_directory(path: Path) -> None:
    """Create a directory as `make_private_dir`, in the place of a link. Raises OSError.

    For directories of a session, which may have been copied from another machine.
    """
    if path.is_symlink():
        path.unlink()
    make_private_dir(path)


def make_private_file(path: Path) -> None:
    """Create an empty file where there is none (0600), its directory included.

    Raises:
        OSError: it cannot be created, or the path is a link or not a regular file.
    """
    make_private_dir(path.parent)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
    finally:
        os.close(descriptor)


def write_private(path: Path, data: bytes, *, sync: bool = True, mode: int = 0o600) -> None:
    """Replace a file's content atomically. Raises OSError, and then nothing changed.

    Without `sync` the content survives the end of the process, but perhaps not a power cut.
    """
    make_private_dir(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, mode)
            stream.write(data)
            stream.flush()
            if sync:
                os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    if sync:
        sync_dir(path.parent)


def sync_dir(path: Path) -> None:
    """Make a created or renamed entry of this directory survive a power cut, where possible."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold a lock named after `path` during a read, change and write back. Raises OSError."""
    make_private_dir(path.parent)
    lock = path.with_name(f"{path.name}.lock")
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
