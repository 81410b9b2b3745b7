"""Resolves paths to targets, with the spellings that rules must check."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache

from msgspec import Struct

from permissions.paths.file_view import FileView, is_of_process


class Target(Struct, frozen=True):
    """One file or directory that a call accesses."""

    raw_text: str
    """As the tool input or the command has it."""
    lexical: str
    """Absolute, with `.` and `..` removed lexically."""
    real: str
    """Absolute, links resolved by the kernel's rules."""
    is_of_process: bool = False
    """Whether another process would find something else there."""

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every absolute spelling that rules must check; at least one."""
        if self.lexical == self.real:
            return (self.real,)
        return (self.lexical, self.real)


def resolve(path_text: str, *, base: str, home: str, files: FileView) -> Target | None:
    """Resolve `path_text` relative to the directory `base`; return None if that is impossible.

    A leading `~/` is the home directory; another user's home is not looked up.
    """
    if not path_text or "\x00" in path_text:
        return None
    path = path_text
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    elif path.startswith("~"):
        # A tool takes the name literally, a shell would not: a user must decide.
        return None
    return resolve_literal(path_text, path, base=base, files=files)


def resolve_literal(path_text: str, path: str, *, base: str, files: FileView) -> Target | None:
    """Like `resolve`, for a `path` in which a tilde is literal."""
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
    """Return `os.path.abspath(path)`, with a cache: a session has few directories."""
    text = str(path)
    return _normal(text) if text.startswith("/") else os.path.abspath(text)


_normal = lru_cache(maxsize=256)(os.path.normpath)


def is_below(path: str, directory: str) -> bool:
    """Return whether `path` is the directory itself or inside it, by component."""
    if directory == "/":
        return path.startswith("/")
    return path == directory or path.startswith(directory + "/")


def beginnings(directories: Iterable[str]) -> tuple[str, ...]:
    """Return the prefixes of `f"{path}/"` for paths that are one of the directories or inside
    one."""
    return tuple([f"{directory.rstrip('/')}/" for directory in directories])


def relative_to(path: str, directory: str) -> str | None:
    """Return `path` relative to `directory` ("" for itself), None when outside."""
    if not is_below(path, directory):
        return None
    return path[len(directory) :].lstrip("/")
