"""Files of this package in the agent's home: one that cannot be read counts as empty."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from permissions.base.files.plain_file import MAX_BYTES, read_plain

T = TypeVar("T")


def read_stored(path: Path, kind: type[T], max_bytes: int = MAX_BYTES) -> T:
    """Return what a file holds; an empty `kind` where it is missing or holds something else."""
    try:
        return msgspec.json.decode(read_plain(path, max_bytes), type=kind)
    except (OSError, msgspec.DecodeError, RecursionError):
        return kind()
