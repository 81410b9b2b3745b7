"""The paths that a pattern of the settings matches, found in a limited number of steps."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator, Sequence
from typing import Final

from permissions.base.text.late_pattern import compile_late

MAX_MATCHES: Final = 10_000
MAX_ENTRIES: Final = 200_000
"""Directory entries that one pattern may examine before each command: about a second."""
_WILD: Final = compile_late(r"[*?\[]")
_NO_FILES: Final = frozenset({"/proc", "/sys"})
"""Views of the kernel, which may lead back to the root; they hold no files of their own."""


class TooManyMatches(Exception):
    """A pattern cannot be compared with every path that it may match; the message names it."""


def is_pattern(path: str) -> bool:
    """Return whether a path is a pattern that may match several paths."""
    return _WILD.search(path) is not None


def matching_paths(pattern: str) -> Iterator[str]:
    """Yield the paths that an absolute pattern matches now, including hidden ones.

    `*`, `?` and `[…]` match inside a name, `**` any number of directories, those behind links
    included.

    Raises:
        TooManyMatches: there are more than `MAX_MATCHES`, or more than `MAX_ENTRIES` to compare.
    """
    names = [name for name in pattern.split("/") if name]
    for count, path in enumerate(_Search(pattern).find("/", names)):
        if count == MAX_MATCHES:
            raise TooManyMatches(f"{pattern} matches more than {MAX_MATCHES:,} paths")
        yield path


class _Search:
    """One search, which counts what it examines."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._count = 0

    def find(self, directory: str, names: Sequence[str]) -> Iterator[str]:
        """Yield the paths below a directory that match the remaining names."""
        if not names:
            yield directory
            return
        name, rest = names[0], names[1:]
        if name == "**":
            yield from self._find_at_any_depth(directory, rest)
        elif not is_pattern(name):
            path = os.path.join(directory, name)
            if os.path.lexists(path):
                yield from self.find(path, rest)
        else:
            fits = re.compile(fnmatch.translate(name)).fullmatch
            for entry in self._entries(directory):
                if fits(entry.name) and (not rest or _is_directory(entry)):
                    yield from self.find(entry.path, rest)

    def _find_at_any_depth(self, top: str, names: Sequence[str]) -> Iterator[str]:
        pending, identities = [top], set[tuple[int, int]]()
        while pending:
            directory = pending.pop()
            try:
                status = os.stat(directory)
            except OSError:
                continue
            identity = (status.st_dev, status.st_ino)
            if identity in identities or directory in _NO_FILES:
                continue
            identities.add(identity)
            if names:
                yield from self.find(directory, names)
            for entry in self._entries(directory):
                if not names:
                    yield entry.path
                if _is_directory(entry):
                    pending.append(entry.path)

    def _entries(self, directory: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    self._count += 1
                    if self._count > MAX_ENTRIES:
                        raise TooManyMatches(
                            f"{self._pattern} would have to be compared with more than "
                            f"{MAX_ENTRIES:,} files; name the directories that it is about"
                        )
                    yield entry
        except OSError:
            # What cannot be listed cannot be listed by the command either.
            return


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A link that leads to itself.
        return False
