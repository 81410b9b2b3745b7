"""Protected names that appear during a run although no mount could block them.

An empty `.git/commondir`, for example, would break git; so it is looked for afterwards, and what
was put there is moved away before any other program reads it. Another command may still run and put
links on the way: directories are opened without following any.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
from pathlib import Path

from agent.sandbox.policy import SandboxPolicy
from permissions.base.files.without_links import open_directory


def move_planted(policy: SandboxPolicy, quarantine: Path) -> dict[str, str]:
    """Move what appeared into a directory; return where each path went. Raises nothing.

    Protected links that were changed are put back.
    """
    found: dict[str, str | None] = {}
    for path, target in (*((path, None) for path in policy.watched), *policy.links):
        with contextlib.suppress(OSError):
            found[path] = _restored(path, target, quarantine)
    return {path: place for path, place in found.items() if place is not None}


def _restored(path: str, target: str | None, quarantine: Path) -> str | None:
    """Make a name what it was, a link or nothing; return where what stood there is now.

    Raises:
        OSError: its directory is gone, or a link stands on the way: nothing of the path is there.
    """
    directory, name = open_directory(os.path.dirname(path)), os.path.basename(path)
    try:
        if target is not None and _link_target(name, directory) == target:
            return None
        place = _move(path, directory, quarantine) if _exists(name, directory) else None
        if target is not None:
            with contextlib.suppress(OSError):
                os.symlink(target, name, dir_fd=directory)
        return place
    finally:
        os.close(directory)


def _exists(name: str, directory: int) -> bool:
    try:
        os.lstat(name, dir_fd=directory)
    except FileNotFoundError:
        return False
    return True


def _link_target(name: str, directory: int) -> str | None:
    try:
        return os.readlink(name, dir_fd=directory)
    except OSError:
        return None


def _move(path: str, directory: int, quarantine: Path) -> str:
    name = os.path.basename(path)
    place = quarantine / f"{secrets.token_hex(4)}-{name}"
    try:
        quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Another file system takes a copy, which is not made by descriptor.
        source = f"/proc/self/fd/{directory}/{name}" if sys.platform == "linux" else path
        shutil.move(source, place)
    except OSError as error:
        return f"it could not be moved away: {error.strerror}"
    return str(place)
