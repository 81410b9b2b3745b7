"""Where the program's own helpers are looked up: never in the directory that is worked on."""

from __future__ import annotations

import os
from pathlib import Path


def path_outside(path: str | None, directory: Path) -> str:
    """Return a `PATH` without entries that are relative, or lie in the directory (links resolved).

    The system's default where nothing else is left: an empty `PATH` would mean the current
    directory.
    """
    root = os.path.realpath(directory)
    remaining = [
        entry
        for entry in (path or "").split(os.pathsep)
        if os.path.isabs(entry)
        and not _is_in(os.path.realpath(entry), root)
        and not _is_in(os.path.normpath(entry), os.path.normpath(directory))
    ]
    return os.pathsep.join(remaining) or os.defpath


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
