"""The engine's view of the file system: a protocol, and the real implementation.

Decisions access files only through `FileView`, so that the decision itself stays a pure function of
its arguments, and tests can pass a simulated tree.
"""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from itertools import filterfalse
from typing import TYPE_CHECKING, Protocol, Self

from msgspec import Struct, field

from permissions.base.text.late_pattern import compile_late

MAX_ENTRIES = 5_000
"""Largest directory that a glob is expanded in; beyond it the target counts as unresolvable."""


_MAX_LINKS = 40
"""Maximum number of links in one path; more are probably a loop."""
_MAX_DEPTH = 1 << 30
_MISSING, _ODD = 0, 1
"""Used in place of a mode, which is never that small."""


class FileView(Protocol):
    """Queries of the file system. No method raises for a missing or odd file."""

    def realpath(self, path: str) -> str | None:
        """Return the absolute path with every link resolved as the kernel does.

        Missing components stay as they are. None when the kernel would give up (link loop,
        name too long, a NUL).
        """
        ...

    def is_of_process(self, path: str) -> bool:
        """Return whether a path leads through a place that differs between processes (`/proc/self`,
        `/proc/PID`, `/dev/fd`)."""
        ...

    def is_dir(self, path: str) -> bool:
        """Return whether the path is a directory (links followed)."""
        ...

    def is_link(self, path: str) -> bool:
        """Return whether the last component itself is a symbolic link."""
        ...

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Return the names in a directory, () for none, None when there are too many."""
        ...


class _Known(Struct):
    """The file facts that one decision has queried."""

    modes: dict[str, int] = field(default_factory=dict)
    """The mode of each path, links not followed."""
    links: dict[str, str] = field(default_factory=dict)
    """The targets of links, not resolved."""
    linked_dirs: dict[str, bool] = field(default_factory=dict)
    """Whether a link leads to a directory."""
    is_complete: bool = True
    """Whether every query of the disk is recorded here."""
    paths: dict[str, str | None] = field(default_factory=dict)
    entries: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    plain_paths: set[str] = field(default_factory=set)
    """Paths without links, which resolve to themselves."""


class RealFiles:
    """The file system of this machine."""

    _cache: _Known | None = None
    """None asks the disk each time."""

    def for_one_decision(self) -> Self:
        """Return a view for one decision, which queries each name once."""
        view = type(self).__new__(type(self))
        vars(view).update(vars(self))
        view._cache = _Known()
        return view

    def is_unchanged(self) -> bool:
        """Return whether every query would have the same result now; False if that is not known."""
        cache = self._cache
        if cache is None or not cache.is_complete:
            return False
        answers: tuple[tuple[Callable[[str], object], Mapping[str, object]], ...] = (
            (os.readlink, cache.links),
            (os.path.isdir, cache.linked_dirs),
            (self._read_entries, cache.entries),
        )
        try:
            if _modes(cache.modes) != list(cache.modes.values()):
                return False
            for ask, old_answers in answers:
                if not all(map(operator.eq, map(ask, old_answers), old_answers.values())):
                    return False
        except (OSError, ValueError):
            return False
        return True

    def _note_incomplete(self) -> None:
        if self._cache is not None:
            self._cache.is_complete = False

    def realpath(self, path: str) -> str | None:
        """Resolve links before dot-dot, component by component."""
        cache = self._cache
        if cache is None:
            return self._resolve(path)
        if path in cache.paths:
            return cache.paths[path]
        result = path if self._leads_there(path, cache) else self._resolve(path)
        cache.paths[path] = result
        return result

    def _resolve(self, path: str) -> str | None:
        real_path = ""
        try:
            real_path = self._walk(path)[0]
            mode = self._mode(real_path)
            # A loop comes back unresolved instead of as an error.
            if stat.S_ISLNK(mode):
                return None
        except (OSError, ValueError):
            return real_path if real_path and self._is_plain_missing(path) else None
        if mode == _ODD:
            return real_path if self._is_plain_missing(path) else None
        return real_path

    def is_of_process(self, path: str) -> bool:
        """Return True also for a path that cannot be resolved."""
        try:
            return self._walk(path)[1]
        except (OSError, ValueError):
            return True

    def _walk(self, path: str) -> tuple[str, bool]:
        """Resolve a path like `os.path.realpath`, with at most one query of each name.

        Also returns whether it leads through a place that differs between processes.
        """
        if not path.startswith("/"):
            self._note_incomplete()
            return os.path.realpath(path), True
        of_process = False
        plain_paths = set() if self._cache is None else self._cache.plain_paths
        components: list[str] = []
        alive = _MAX_DEPTH
        """Below a name that is missing there is nothing to look at."""
        rest = path.split("/")
        rest.reverse()
        link_count = 0
        while rest:
            name = rest.pop()
            if name in ("", "."):
                continue
            if name == "..":
                del components[-1:]
                if len(components) < alive:
                    alive = _MAX_DEPTH
                continue
            components.append(name)
            if len(components) > alive:
                continue
            prefix = "/" + "/".join(components)
            of_process = of_process or is_of_process(prefix)
            mode = self._mode(prefix)
            if mode in (_MISSING, _ODD):
                alive = len(components)
                plain_paths.add(prefix)
            elif not stat.S_ISLNK(mode):
                plain_paths.add(prefix)
            else:
                link_count += 1
                if link_count > _MAX_LINKS:
                    self._note_incomplete()
                    return os.path.realpath(path), True
                link = os.readlink(prefix)
                if self._cache is not None:
                    self._cache.links[prefix] = link
                if link.startswith("/"):
                    components.clear()
                else:
                    components.pop()
                rest.extend(reversed(link.split("/")))
        return "/" + "/".join(components), of_process

    def _leads_there(self, path: str, cache: _Known) -> bool:
        """Whether the path certainly resolves to itself. Queries names below the nearest cached
        one."""
        if len(path) >= _LONG or path[:1] != "/" or _ODD_NAME.search(path) is not None:
            return False
        plain_paths, modes = cache.plain_paths, cache.modes
        prefixes: list[str] = []
        end = len(path)
        while end > 0 and path[:end] not in plain_paths:
            prefixes.append(path[:end])
            end = path.rfind("/", 0, end)
        prefixes.reverse()
        is_missing = end > 0 and modes[path[:end]] == _MISSING
        try:
            new = [] if is_missing else list(filterfalse(modes.__contains__, prefixes))
            modes.update(zip(new, _modes(new), strict=True))
        except ValueError:
            return False
        for prefix in prefixes:
            if is_missing:
                # Below a name that is missing there is nothing to look at.
                modes[prefix] = _MISSING
            elif modes[prefix] == _ODD or stat.S_ISLNK(modes[prefix]):
                return False
            else:
                is_missing = modes[prefix] == _MISSING
            plain_paths.add(prefix)
        return modes[path] != _ODD

    def _mode(self, path: str) -> int:
        """Return the mode of the name itself, `_MISSING`, or `_ODD` for another error."""
        cache = self._cache
        if cache is not None and path in cache.modes:
            return cache.modes[path]
        [mode] = _modes((path,))
        if cache is not None:
            cache.modes[path] = mode
        return mode

    def is_dir(self, path: str) -> bool:
        """Follow links."""
        try:
            mode = self._mode(path)
            if not stat.S_ISLNK(mode):
                return stat.S_ISDIR(mode)
            result = os.path.isdir(path)
            if self._cache is not None:
                self._cache.linked_dirs[path] = result
            return result
        except ValueError:
            return False

    def is_link(self, path: str) -> bool:
        """Look at the last component only."""
        try:
            return stat.S_ISLNK(self._mode(path))
        except ValueError:
            return False

    def entries(self, path: str) -> tuple[str, ...] | None:
        """Stop reading at `MAX_ENTRIES`."""
        cache = self._cache
        if cache is None:
            return self._read_entries(path)
        if path not in cache.entries:
            cache.entries[path] = self._read_entries(path)
        return cache.entries[path]

    @staticmethod
    def _read_entries(path: str) -> tuple[str, ...] | None:
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

    def _is_plain_missing(self, path: str) -> bool:
        # `file/x` below a regular file is ENOTDIR: nothing can be opened there.
        self._note_incomplete()
        try:
            os.lstat(path)
        except NotADirectoryError:
            return True
        except (OSError, ValueError):
            return False
        return True


def _modes(paths: Iterable[str]) -> list[int]:
    """Return the mode of each name itself, `_MISSING`, or `_ODD` for another error."""
    modes: list[int] = []
    for path in paths:
        try:
            modes.append(os.lstat(path).st_mode)
        except FileNotFoundError:
            modes.append(_MISSING)
        except OSError:
            modes.append(_ODD)
    return modes


_ODD_NAME = compile_late(r"/(?:\.{0,2}/|\.{0,2}\Z)|\x00")
_LONG = 1_000
"""From this length on, a path may be too long for some system."""


_OF_PROCESS = compile_late(r"/(?:proc/(?:self|thread-self|\d+)|dev/fd)(?:/|\Z)")


def is_of_process(path: str) -> bool:
    """Return whether an absolute path, without resolving links, differs between processes."""
    return _OF_PROCESS.match(path) is not None


def for_one_decision(files: FileView) -> FileView:
    """Return the view for one decision, which queries real files once."""
    return files.for_one_decision() if isinstance(files, RealFiles) else files


if TYPE_CHECKING:
    _: FileView = RealFiles()
