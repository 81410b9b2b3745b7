"""The engine's view of the file system: what it may ask, and the real implementation.

Decisions see files only through `FileView`, so that the decision itself stays a pure function
of its arguments and tests can pass a made-up tree.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Protocol

MAX_ENTRIES = 5_000
"""Largest folder that a glob is expanded in; beyond it the target counts as unresolvable."""


class FileView(Protocol):
    """Questions about the file system. No method raises for a missing or odd file."""

    def realpath(self, path: str) -> str | None:
        """Return the absolute path with every link resolved as the kernel does.

        Missing components stay as they are. None when the kernel would give up (link loop,
        name too long, a NUL).
        """
        ...

    def is_dir(self, path: str) -> bool:
        """Is there a folder (links followed)?"""
        ...

    def is_link(self, path: str) -> bool:
        """Is the last component itself a symbolic link?"""
        ...

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Return the names in a folder, () for none, None when there are too many to look at."""
        ...


class RealFiles:
    """The file system of this machine."""

    def realpath(self, path: str) -> str | None:
        """Resolve links before dot-dot, component by component."""
        resolved = ""
        try:
            resolved = os.path.realpath(path)
            # Without strict mode a link loop comes back unresolved instead of as an error.
            if stat.S_ISLNK(os.lstat(resolved).st_mode):
                return None
        except FileNotFoundError:
            return resolved
        except (OSError, ValueError):
            return resolved if resolved and self._is_plain_missing(path) else None
        return resolved

    def is_dir(self, path: str) -> bool:
        """Follow links."""
        try:
            return os.path.isdir(path)
        except ValueError:
            return False

    def is_link(self, path: str) -> bool:
        """Look at the last component only."""
        try:
            return os.path.islink(path)
        except ValueError:
            return False

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Stop reading at `MAX_ENTRIES`."""
        names: list[str] = []
        try:
            with os.scandir(path) as scan:
                for entry in scan:
                    names.append(entry.name)
                    if len(names) > MAX_ENTRIES:
                        return None
        except (OSError, ValueError):
            return ()
        return tuple(sorted(names))

    @staticmethod
    def _is_plain_missing(path: str) -> bool:
        # `file/x` below a regular file is ENOTDIR: nothing can be opened there.
        try:
            os.lstat(path)
        except NotADirectoryError:
            return True
        except (OSError, ValueError):
            return False
        return True


if TYPE_CHECKING:
    _: FileView = RealFiles()
