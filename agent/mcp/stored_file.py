"""Reads this package's files in the agent's home; an unreadable one counts as empty."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from permissions.base.files.plain_file import MAX_BYTES, read_plain

T = TypeVar("T")


def read_stored(path: Path, kind: type[T], max_bytes: int = MAX_BYTES) -> T:
    """Return the content of a file; an empty `kind` if it is missing or invalid."""
    try:
        return msgspec.json.decode(read_plain(path, max_bytes), type=kind)
    except (OSError, msgspec.DecodeError, RecursionError):
        return kind()
