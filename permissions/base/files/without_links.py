"""Opens canonical paths safely while other programs may rename or link their components.

A path that was checked may name something else a moment later, if a running program replaces a
directory by a link. A descriptor that was opened component by component without following links
always refers to the same file.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from typing import Final

_WITHOUT_RIGHTS: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK)
# Passing through a directory needs no permission to list it; only Linux has a flag for that.
PASS_FLAGS: Final = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | _WITHOUT_RIGHTS


def open_directory(path: str | os.PathLike[str], *, opens_up: bool = False) -> int:
    """Return the descriptor of a directory by its canonical path, for `dir_fd`.

    Args:
        opens_up: Whether inaccessible directories of this user get the permissions of their owner
            back.

    Raises:
        OSError: it does not exist; `ENOTDIR` or `ELOOP` if a component is a link now.
    """
    directory = os.open("/", PASS_FLAGS)
    try:
        for part in os.fspath(path).split("/"):
            if part:
                step = _step(part, directory, opens_up=opens_up)
                os.close(directory)
                directory = step
    except BaseException:
        os.close(directory)
        raise
    return directory


def _step(name: str, directory: int, *, opens_up: bool) -> int:
    try:
        return os.open(name, PASS_FLAGS, dir_fd=directory)
    except PermissionError:
        if not opens_up:
            raise
        open_up(directory)
        return os.open(name, PASS_FLAGS, dir_fd=directory)


def open_up(directory: int) -> None:
    """Restore the owner's permissions of a directory. Raises OSError if another user owns it."""
    mode = stat.S_IMODE(os.fstat(directory).st_mode)
    # Linux cannot change a mode through an O_PATH descriptor, but through its path.
    place = f"/proc/self/fd/{directory}" if sys.platform == "linux" else directory
    if mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(place, mode | stat.S_IRWXU)


def open_anything(path: str) -> int:
    """Return the descriptor of a file or directory by its canonical path, for mounting.

    Raises as `open_directory` does.
    """
    if path == "/":
        return open_directory(path)
    directory = open_directory(os.path.dirname(path))
    try:
        flags = _WITHOUT_RIGHTS | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(os.path.basename(path), flags, dir_fd=directory)
    finally:
        os.close(directory)
    if stat.S_ISLNK(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return descriptor
