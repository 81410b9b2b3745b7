"""Headings of the user's own command files, cached between starts.

A file with the same path, inode, size and times is not read before it is used, so a start takes
about the same time with a thousand of them. The cache is in the agent's home (0600), and no
permission depends on it: text and rules of a command are read from its file when it runs. Files of
projects are never cached.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from agent.commands.sources import command_file
from agent.commands.sources.command_file import Heading
from agent.prompt import frontmatter
from permissions.base.files.plain_file import NotRegular, open_regular
from permissions.base.files.private_file import write_private
from permissions.base.text import sanitize as sanitize_module
from permissions.base.text.sanitize import sanitize

FILE: Final = "cache/command-heads.json"
"""Relative to the agent's home."""
MAX_BYTES: Final = 16_000_000
SETTLED_NS: Final = 2_000_000_000
"""A file that changed more recently could change again with the same timestamps."""
_READERS: Final = (command_file, frontmatter, sanitize_module)
"""Modules that produce headings; if one of them changes, the cache is invalid."""

_SHAPE: Final = (int, int, int, int, bool, str, str, str, bool, bool, list)
"""Types in an entry: the signature, whether it is a skill, and the heading."""

Signature: TypeAlias = tuple[int, int, int, int]
"""Inode, size in bytes, times of modification and of change in ns."""


def signature_of(status: os.stat_result) -> Signature:
    """Return values that change with the file; the change time cannot be forged."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class FrontmatterCache:
    """The headings of an earlier start; a damaged cache file counts as empty."""

    def __init__(self, file: Path) -> None:
        """Read `file` at the first lookup. Not safe for concurrent calls."""
        self._file = file
        self._entries: dict[str, list[Any]] | None = None

    def heading(self, path: str, signature: Signature, *, is_skill: bool) -> Heading | None:
        """Return the cached heading of exactly this file; None if the file must be read."""
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(path)
        if entry is None or tuple(entry[:4]) != signature or entry[4] is not is_skill:
            return None
        description, hint, use, is_listed, for_model, problems = entry[5:]
        return Heading(description, hint, use, is_listed, for_model, tuple(problems))

    def write(self, headings: Mapping[str, tuple[Signature, bool, Heading]], at_ns: int) -> None:
        """Write the headings known at `at_ns` (Unix time) if they changed. Raises nothing.

        `headings` maps each path to the signature, whether it is a skill, and the heading.
        """
        entries = {
            path: [
                *signature,
                is_skill,
                heading.description,
                heading.argument_hint,
                heading.when_to_use,
                heading.is_listed,
                heading.for_model,
                list(heading.problems),
            ]
            for path, (signature, is_skill, heading) in headings.items()
            if max(signature[2:]) < at_ns - SETTLED_NS
        }
        if entries == (self._entries if self._entries is not None else self._read()):
            return
        self._entries = entries
        data = json.dumps({"readers": _reader_stamps(), "files": entries}, separators=(",", ":"))
        try:
            write_private(self._file, data.encode(), sync=False)
        except OSError:
            # The next start reads the files again.
            return

    def _read(self) -> dict[str, list[Any]]:
        try:
            with open_regular(self._file) as file:
                status = os.fstat(file.fileno())
                is_ours = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022
                if not is_ours or status.st_size > MAX_BYTES:
                    return {}
                data = json.loads(file.read(MAX_BYTES))
        except (OSError, NotRegular, ValueError, RecursionError):
            return {}
        if not isinstance(data, dict) or data.get("readers") != _reader_stamps():
            return {}
        entries = data.get("files")
        if not isinstance(entries, dict):
            return {}
        return {path: entry for path, entry in entries.items() if _is_whole(entry)}


def _is_whole(entry: object) -> bool:
    """Whether an entry has the shape that `write` produces, without control characters."""
    if not isinstance(entry, list) or tuple(map(type, entry)) != _SHAPE:
        return False
    texts = entry[5:8]
    if entry[10]:
        texts = texts + entry[10]
        if not all(type(text) is str for text in texts):
            return False
    text = "".join(texts)
    return text.isprintable() or sanitize(text) == text


def _reader_stamps() -> list[list[int]]:
    stamps = []
    for module in _READERS:
        try:
            status = os.stat(module.__file__ or "")
        except OSError:
            # In an archive, where times mean nothing: a new value disables caching.
            return [[os.getpid()]]
        stamps.append([status.st_size, status.st_mtime_ns])
    return stamps
