"""Where a path as written really leads, and in which spellings rules must see it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from permissions.paths.file_view import FileView, is_of_process


class Target(Struct, frozen=True):
    """One file or directory that a call touches."""

    raw_text: str
    """As the tool input or the command has it."""
    lexical: str
    """Absolute, dot and dot-dot removed by text alone."""
    real: str
    """Absolute, links resolved by the kernel's rules."""
    is_of_process: bool = False
    """Whether another process would find something else there."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """Return every absolute spelling that rules look at; at least one."""
        if self.lexical == self.real:
            return (self.real,)
        return (self.lexical, self.real)


def resolve(path_text: str, *, base: str, home: str, files: FileView) -> Target | None:
    """Return where `path_text` leads from the directory `base`; None when that cannot be known.

    A leading `~/` is the home directory; another user's home is not looked up.
    """
    if not path_text or "\x00" in path_text:
        return None
    path = path_text
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    elif path.startswith("~"):
        # A tool takes the name literally, a shell would not: leave it to a user.
        return None
    return resolve_literal(path_text, path, base=base, files=files)


def resolve_literal(path_text: str, path: str, *, base: str, files: FileView) -> Target | None:
    """Like `resolve` for a `path` in which a tilde has no meaning any more."""
    if not path or "\x00" in path:
        return None
    absolute = path if path.startswith("/") else f"{base}/{path}"
    real = files.realpath(absolute)
    if real is None:
        return None
    if real == absolute:
        return Target(path_text, real, real, is_of_process(real))
    lexical = os.path.normpath(absolute)
    # POSIX lets exactly two leading slashes mean something else; no supported system does.
    if lexical.startswith("//"):
        lexical = lexical[1:]
    return Target(path_text, lexical, real, files.is_of_process(absolute))


def absolute(path: object) -> str:
    """Do what `os.path.abspath` does, with a cache: a session has few directories."""
    text = str(path)
    return _normal(text) if text.startswith("/") else os.path.abspath(text)


_normal = lru_cache(maxsize=256)(os.path.normpath)


def is_below(path: str, directory: str) -> bool:
    """Is `path` the directory itself or inside it? Compared component by component."""
    if directory == "/":
        return path.startswith("/")
    return path == directory or path.startswith(directory + "/")


def beginnings(directories: Iterable[str]) -> tuple[str, ...]:
    """Return what `f"{path}/"` begins with where a path is one of the directories or inside one."""
    return tuple([f"{directory.rstrip('/')}/" for directory in directories])


def relative_to(path: str, directory: str) -> str | None:
    """Return `path` below `folder` without a leading slash ("" for itself), None when outside."""
    if not is_below(path, directory):
        return None
    return path[len(directory) :].lstrip("/")
