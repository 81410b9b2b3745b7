"""The root of the project that a directory belongs to."""

from __future__ import annotations

import os
from pathlib import Path


def find_project_root(launch_dir: Path) -> Path:
    """Return the canonical root of the innermost repository around a directory, or the directory
    itself.

    No git command runs: the configuration of an untrusted repository must not be read.
    """
    start = Path(os.path.realpath(launch_dir))
    for directory in (start, *start.parents):
        if os.path.exists(directory / ".git"):
            return directory
    return start
