"""inotify, the file change notification of Linux: a descriptor that need not be polled."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections import deque
from collections.abc import Collection, Iterator
from typing import Final, Literal, NamedTuple

Change = Literal["added", "modified", "deleted"]
Changes = set[tuple[Change, str]]

MODIFY: Final = 0x2
CLOSE_WRITE: Final = 0x8
MOVED_TO: Final = 0x80
CREATE: Final = 0x100
_ATTRIB: Final = 0x4
_MOVED_FROM: Final = 0x40
_DELETE: Final = 0x200
_DELETE_SELF: Final = 0x400
_MOVE_SELF: Final = 0x800
_LOST: Final = 0x4000
_UNWATCHED: Final = 0x8000
_IS_DIRECTORY: Final = 0x4000_0000

_ADDED: Final = CREATE | MOVED_TO
_MODIFIED: Final = MODIFY | CLOSE_WRITE | _ATTRIB
_DELETED: Final = _DELETE | _MOVED_FROM | _DELETE_SELF | _MOVE_SELF
_EVENT: Final = struct.Struct("iIII")
_READ_BYTES: Final = 1 << 16


class InotifyEvent(NamedTuple):
    """One event."""

    watch: int
    """-1 if the kernel dropped events."""
    mask: int
    name: str
    """In the watched directory; empty if the event is about the directory itself."""


def open_notices(flags: int = 0) -> int:
    """Return a new inotify descriptor; closing it takes the kernel some 20 ms.

    Raises:
        OSError: the user's limit of inotify instances is reached.
    """
    return _library("inotify_init1", os.O_CLOEXEC | flags)


def add_watch(descriptor: int, directory: str, mask: int) -> int:
    """Watch a directory, not its subdirectories; return the number of the watch. Raises OSError."""
    return _library("inotify_add_watch", descriptor, os.fsencode(directory), mask)


def read_notices(descriptor: int) -> Iterator[InotifyEvent]:
    """Read once and yield the events. Raises BlockingIOError if there are none."""
    data, start = os.read(descriptor, _READ_BYTES), 0
    while start < len(data):
        watch, mask, _, length = _EVENT.unpack_from(data, start)
        start += _EVENT.size + length
        yield InotifyEvent(watch, mask, os.fsdecode(data[start - length : start].rstrip(b"\0")))


class DirectoryNotices:
    """Watches directories, optionally with all below them, and collects their changes."""

    def __init__(self, *, recursive: bool, excluded_names: Collection[str] = ()) -> None:
        """Watch nothing yet; `excluded_names` are subdirectories that are not watched.

        Raises:
            OSError: the user's limit of inotify instances is reached.
        """
        self._recursive = recursive
        self._excluded_names = excluded_names
        self._paths: dict[int, set[str]] = {}
        """Paths by watch number; one directory may have several paths."""
        self._unread: deque[str] = deque()
        self.descriptor: Final = open_notices(os.O_NONBLOCK)

    def add(self, directory: str) -> None:
        """Watch a directory, and queue it for `read_below` if recursive. Raises OSError."""
        mask = _ADDED | _MODIFIED | _DELETED
        self._paths.setdefault(add_watch(self.descriptor, directory, mask), set()).add(directory)
        if self._recursive:
            self._unread.append(directory)

    def close(self) -> None:
        """Stop watching."""
        os.close(self.descriptor)

    @property
    def has_unread(self) -> bool:
        """Whether directories are queued for `read_below`."""
        return bool(self._unread)

    def read_below(self) -> Changes:
        """Read one queued directory and watch its subdirectories; return its entries as added.

        Raises:
            OSError: the limit of watches is reached.
        """
        changes: Changes = set()
        with _that_may_be_gone(), os.scandir(self._unread.popleft()) as entries:
            for entry in entries:
                changes.add(("added", entry.path))
                if entry.is_dir(follow_symlinks=False):
                    self._add_below(entry.path, entry.name)
        return changes

    def read(self) -> Changes | None:
        """Return the changes since the last call; None if some of them are unknown."""
        changes: Changes = set()
        is_known = True
        with contextlib.suppress(BlockingIOError):
            while True:
                for notice in read_notices(self.descriptor):
                    is_known = is_known and not notice.mask & _LOST
                    for directory in tuple(self._paths.get(notice.watch, ())):
                        changes.add(self._change(notice, directory))
                    if notice.mask & _UNWATCHED:
                        self._paths.pop(notice.watch, None)
        return changes if is_known else None

    def _change(self, notice: InotifyEvent, directory: str) -> tuple[Change, str]:
        path = os.path.join(directory, notice.name) if notice.name else directory
        is_directory = notice.mask & _IS_DIRECTORY
        if notice.mask & _ADDED:
            if is_directory and self._recursive:
                self._add_below(path, notice.name)
            return "added", path
        if notice.mask & _DELETED:
            if is_directory or not notice.name:
                self._forget(path)
            return "deleted", path
        return "modified", path

    def _add_below(self, path: str, name: str) -> None:
        if name not in self._excluded_names:
            with _that_may_be_gone():
                self.add(path)

    def _forget(self, path: str) -> None:
        """Remove the paths of a directory that was moved or deleted from the watches."""
        prefix = path + os.sep
        for paths in self._paths.values():
            paths -= {each for each in paths if each == path or each.startswith(prefix)}


def _that_may_be_gone() -> contextlib.AbstractContextManager[None]:
    """Ignore the error of a directory that was removed or that this user may not access."""
    return contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError)


def _library(name: str, *arguments: int | bytes) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    result = int(getattr(library, name)(*arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
