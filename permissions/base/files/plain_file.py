"""The bytes of a small file that the program reads by itself: never waited for, never endless.

Anything may lie where a settings or an instruction file is expected: a pipe nobody writes to, a
link to a device, a file of gigabytes. None of that may hold up a start. Imports next to nothing:
some of these files are read before the first frame.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

MAX_BYTES: Final = 5_000_000
"""A file that a user writes by hand is smaller than this."""

# NOCTTY: a terminal in its place must not become ours. NONBLOCK: a pipe is not waited for.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_BLOCK: Final = 1 << 16


def read_plain(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """Return the whole content of a regular file.

    Raises:
        OSError: it is missing, cannot be read, is something else than a regular file, or holds
            more than `limit` bytes; `strerror` says which.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", os.fspath(path))
    return data


def read_start(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the first bytes of a regular file, `limit` at most. Raises OSError like `read_plain`.

    The size that the system states is not relied on: for files of `/proc` it is 0.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
        pieces = []
        left = limit
        while left > 0 and (piece := os.read(descriptor, min(left, _BLOCK))):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)
