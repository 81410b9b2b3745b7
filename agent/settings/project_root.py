"""The root of the project that a directory belongs to."""

from __future__ import annotations

import os
from pathlib import Path


def find_project_root(launch_dir: Path) -> Path:
    """Return the canonical root of the innermost repository around a directory, or the directory
    itself.

    Does not call git, because the configuration of an untrusted repository must not be read.
    """
    start = Path(os.path.realpath(launch_dir))
    for directory in (start, *start.parents):
        if os.path.exists(directory / ".git"):
            return directory
    return start


def project_directories(project_root: Path, launch_dir: Path) -> tuple[Path, ...]:
    """Return the directories from `launch_dir` up to the project's root."""
    start = Path(os.path.realpath(launch_dir))
    if not start.is_relative_to(project_root):
        return (project_root,)
    depth = len(start.relative_to(project_root).parts)
    return (start, *start.parents)[: depth + 1]
