"""Open a file for reading, but only if it is a plain file: no folder, pipe or device."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegular(Exception):
    """The path names something else; the message says what, as in "is a folder"."""


class _AtOnce(io.BufferedReader):
    """A reader that never waits: a kernel file with nothing to give is an error, not None."""

    def read(self, size: int | None = -1, /) -> bytes:
        data: bytes | None = super().read(size)
        if data is None:
            raise OSError(errno.EAGAIN, "it gives nothing now, and is not waited for")
        return data


def open_regular(path: Path | str, *, dir_fd: int | None = None) -> BinaryIO:
    """Open a plain file. With `dir_fd` the name is looked up there and may not be a link.

    Raises:
        NotRegular: it is something else.
        OSError: it cannot be opened.
    """
    # Without O_NONBLOCK a named pipe would hold us until somebody writes.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    if dir_fd is not None:
        flags |= os.O_NOFOLLOW
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise NotRegular("is a folder")
        if not stat.S_ISREG(mode):
            raise NotRegular("is not a regular file (a device, pipe or socket)")
        return _AtOnce(io.FileIO(descriptor, "rb"))
    except BaseException:
        os.close(descriptor)
        raise
