"""What lists say of the person's own command files, kept from one start to the next.

A file that is the same by path, inode, size and times is not read before it is used, so a start
costs about the same with a thousand of them. The cache lies in the agent's home, 0600, and says
nothing that a permission rests on: text and rules of a command are read from its file when it runs.
What a project brings is never in it.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from agent import sanitize as sanitize_module
from agent.commands import command_file
from agent.commands.command_file import Heading
from agent.prompt import frontmatter
from agent.sanitize import sanitize
from agent.settings.private_file import write_private
from agent.tools.regular_file import NotRegular, open_regular

FILE: Final = "cache/command-heads.json"
"""Below the agent's home."""
MAX_BYTES: Final = 16_000_000
SETTLED_NS: Final = 2_000_000_000
"""A file changed less long ago could change once more and still look the same."""
_READERS: Final = (command_file, frontmatter, sanitize_module)
"""What makes a heading of a file; another version of these reads the files anew."""

Signature: TypeAlias = tuple[int, int, int, int]
"""Inode, size in bytes, times of modification and of change in ns."""


def signature_of(status: os.stat_result) -> Signature:
    """Return what changes when a file changes; a project cannot choose the last of it."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class HeadCache:
    """The headings of an earlier start; whatever is wrong with the file, it is as if empty."""

    def __init__(self, file: Path) -> None:
        """Nothing is read before the first question. Calls come from one thread at a time."""
        self._file = file
        self._entries: dict[str, Any] | None = None

    def heading(self, path: str, signature: Signature, *, is_skill: bool) -> Heading | None:
        """Return what is known of exactly this file; None when it has to be read."""
        if self._entries is None:
            self._entries = self._read()
        entry = self._entries.get(path)
        if not isinstance(entry, list) or len(entry) != 11 or entry[:4] != [*signature]:
            return None
        known_as_skill, description, hint, use, is_listed, for_model, problems = entry[4:]
        if known_as_skill is not is_skill or not isinstance(problems, list):
            return None
        texts = [description, hint, use, *problems]
        if not (all(type(text) is str for text in texts) and _is_clean("".join(texts))):
            return None
        if type(is_listed) is not bool or type(for_model) is not bool:
            return None
        return Heading(description, hint, use, is_listed, for_model, tuple(problems))

    def keep(self, known: Mapping[str, tuple[Signature, bool, Heading]], at_ns: int) -> None:
        """Write what was known `at_ns` (since the epoch), where it is news. Raises nothing.

        `known` has by path the signature, whether it is a skill, and the heading.
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
            for path, (signature, is_skill, heading) in known.items()
            if max(signature[2:]) < at_ns - SETTLED_NS
        }
        if entries == (self._entries if self._entries is not None else self._read()):
            return
        self._entries = entries
        data = json.dumps({"readers": _readers(), "files": entries}, separators=(",", ":"))
        try:
            write_private(self._file, data.encode(), sync=False)
        except OSError:
            # The next start reads the files again.
            return

    def _read(self) -> dict[str, Any]:
        try:
            with open_regular(self._file) as file:
                status = os.fstat(file.fileno())
                is_ours = status.st_uid == os.geteuid() and not stat.S_IMODE(status.st_mode) & 0o022
                if not is_ours or status.st_size > MAX_BYTES:
                    return {}
                data = json.loads(file.read(MAX_BYTES))
        except (OSError, NotRegular, ValueError, RecursionError):
            return {}
        if not isinstance(data, dict) or data.get("readers") != _readers():
            return {}
        entries = data.get("files")
        return entries if isinstance(entries, dict) else {}


def _is_clean(text: str) -> bool:
    return text.isprintable() or sanitize(text) == text


def _readers() -> list[list[int]]:
    found = []
    for module in _READERS:
        try:
            status = os.stat(module.__file__ or "")
        except OSError:
            # In an archive, where times say nothing: never the same, so nothing is kept.
            return [[os.getpid()]]
        found.append([status.st_size, status.st_mtime_ns])
    return found
