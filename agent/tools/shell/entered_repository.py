"""What git would run in a directory that a command makes the current one.

Hooks and the status line run there as the user, and often call git. The model may have made a
repository in this session: programs that its configuration names would run without confinement.
"""

from __future__ import annotations

import os
from pathlib import Path

from agent.settings.git_config import git_items
from permissions.base.process.reading_programs import ReadingPrograms
from permissions.paths.resolve import is_below


def entered_program(
    directory: Path,
    *,
    launch_dir: Path,
    scratch_dir: Path,
    since_ns: int,
    programs: ReadingPrograms,
) -> str | None:
    """Return what git would run there because of a repository that changed after `since_ns`.

    None if there is nothing, for an older repository, and for the one around `launch_dir`, which
    the sandbox protects. Everything in `scratch_dir` counts as changed.
    """
    top = _repository_around(os.path.realpath(directory))
    if top is None or is_below(os.path.realpath(launch_dir), top):
        return None
    is_scratch = is_below(top, os.path.realpath(scratch_dir))
    marker = os.path.join(top, ".git")
    is_new_link = os.path.isfile(marker) and _changed_ns(marker) >= since_ns
    paths = [os.path.join(place, "config") for place in (marker, top)]
    paths += [os.path.join(place, "hooks") for place in (marker, top)]
    if not (is_scratch or is_new_link or any(_changed_ns(path) >= since_ns for path in paths)):
        return None
    return next((one.label for one in git_items(Path(top), programs)), None)


def _repository_around(path: str) -> str | None:
    while path != "/":
        if any(os.path.lexists(os.path.join(path, name)) for name in (".git", "HEAD")):
            return path
        path = os.path.dirname(path)
    return None


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return 0
