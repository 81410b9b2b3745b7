"""Reads regular files only, whole, in part or as a stream, without blocking and up to a limit.

Where a small file is expected there may be a pipe without a writer, a link to a device, or a file
of gigabytes; none of them may delay a start. Imports little, since some files are read before the
first frame.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

from permissions.base.files.without_links import open_directory

MAX_BYTES: Final = 5_000_000
"""A file that a user writes by hand is smaller than this."""

# NOCTTY: a terminal must not become the controlling one. NONBLOCK: a pipe must not block.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_BLOCK: Final = 1 << 16


class NotRegular(Exception):
    """The path names something else; the message continues a sentence: "is a folder"."""


def read_text(path: str | os.PathLike[str]) -> str | None:
    """Return a file's text, or None if the file does not exist.

    Raises:
        OSError: it exists but cannot be read, or is not a regular file.
        UnicodeDecodeError: it is not UTF-8.
    """
    try:
        return read_plain(path).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_plain(path: str | os.PathLike[str], limit: int = MAX_BYTES) -> bytes:
    """Return the whole content of a regular file.

    Raises:
        OSError: it is missing, cannot be read, is something else than a regular file, or holds
            more than `limit` bytes; `strerror` is the reason.
    """
    data = read_start(path, limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes", os.fspath(path))
    return data


def read_start(path: str | os.PathLike[str], limit: int) -> bytes:
    """Return the first bytes of a regular file, `limit` at most. Raises OSError like `read_plain`.

    The size that the system reports is not used: for files of `/proc` it is 0.
    """
    try:
        descriptor = _open(path)
    except NotRegular as error:
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path)) from error
    try:
        pieces = []
        remaining = limit
        while remaining > 0 and (piece := os.read(descriptor, min(remaining, _BLOCK))):
            pieces.append(piece)
            remaining -= len(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def open_regular(path: str | os.PathLike[str], *, dir_fd: int | None = None) -> BinaryIO:
    """Open a regular file. With `dir_fd` the name is looked up there and may not be a link.

    Raises:
        NotRegular: it is something else.
        OSError: it cannot be opened.
    """
    descriptor = _open(path, dir_fd)
    return _NonBlockingReader(io.FileIO(descriptor, "rb"))


def open_canonical(path: Path) -> BinaryIO:
    """Open a regular file by its canonical path; no component may have become a link since.

    Raises as `open_regular` does: `ENOTDIR` or `ELOOP` for a link.
    """
    directory = open_directory(path.parent)
    try:
        return open_regular(path.name or ".", dir_fd=directory)
    finally:
        os.close(directory)


def _open(path: str | os.PathLike[str], dir_fd: int | None = None) -> int:
    flags = _FLAGS if dir_fd is None else _FLAGS | os.O_NOFOLLOW
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise NotRegular("is a folder")
        if not stat.S_ISREG(mode):
            raise NotRegular("is not a regular file (a device, pipe or socket)")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


class _NonBlockingReader(io.BufferedReader):
    """Raises OSError, instead of returning None, if a kernel file has no data yet."""

    def read(self, size: int | None = -1, /) -> bytes:
        data: bytes | None = super().read(size)
        if data is None:
            raise OSError(errno.EAGAIN, "it has no data yet")
        return data


def is_lone_file(path: str, directory: int | None = None) -> bool:
    """Return whether a path is a plain file without another name, or missing."""
    try:
        status = os.lstat(path, dir_fd=directory)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
