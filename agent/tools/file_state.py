"""Which files this agent has read, by content, to detect unread or changed files before edits."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def digest(data: bytes) -> str:
    """Return the SHA-256 hash of a file's bytes as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()


class FileState:
    """Content hash per canonical path, as the agent last saw or wrote the file.

    Hashes rather than times: a formatter that rewrites a file with the same bytes changes nothing,
    and an edit within the clock's resolution is still noticed.
    """

    __slots__ = ("_digests",)

    def __init__(self) -> None:
        """Start with nothing read."""
        self._digests: dict[str, str] = {}

    def record(self, path: Path, content_digest: str) -> None:
        """Record that the agent has seen the file with this content."""
        self._digests[os.path.realpath(path)] = content_digest

    def known_hash(self, path: Path) -> str | None:
        """Return the hash the agent knows, or None for a file it has not read."""
        return self._digests.get(os.path.realpath(path))

    def forget(self, path: Path) -> None:
        """Forget a file, so that it must be read again before the next edit."""
        self._digests.pop(os.path.realpath(path), None)

    def clear(self) -> None:
        """Forget everything; used when the history no longer contains what was read."""
        self._digests.clear()

    def paths(self) -> tuple[Path, ...]:
        """Return the canonical paths known, oldest first."""
        return tuple(Path(path) for path in self._digests)
