"""The search path for this program's own helpers, without the project's directories."""

from __future__ import annotations

import os
from pathlib import Path


def path_outside(path: str | None, directory: Path) -> str:
    """Return a `PATH` without entries that are relative, or lie in the directory (links resolved).

    Returns the system's default if nothing is left: an empty `PATH` would mean the current
    directory.
    """
    root, lexical_root = os.path.realpath(directory), os.path.normpath(directory)
    inside = root.rstrip(os.sep) + os.sep, lexical_root.rstrip(os.sep) + os.sep
    remaining = [
        entry
        for entry in (path or "").split(os.pathsep)
        if os.path.isabs(entry)
        and not f"{os.path.realpath(entry)}/".startswith(inside)
        and not f"{os.path.normpath(entry)}/".startswith(inside)
    ]
    return os.pathsep.join(remaining) or os.defpath
