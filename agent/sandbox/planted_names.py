"""Protected names that appear during a run although no mount could block them.

An empty `.git/commondir`, for example, would break git; so it is looked for afterwards, and what
was put there is moved away before any other program reads it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path

from agent.sandbox.policy import SandboxPolicy


def move_planted(policy: SandboxPolicy, quarantine: Path) -> dict[str, str]:
    """Move what appeared into a directory; return where each path went. Raises nothing.

    Protected links that were changed are put back.
    """
    moved = {}
    for path in policy.watched:
        if os.path.lexists(path):
            moved[path] = _move(path, quarantine)
    for path, target in policy.links:
        if os.path.islink(path) and os.readlink(path) == target:
            continue
        if os.path.lexists(path):
            moved[path] = _move(path, quarantine)
        with contextlib.suppress(OSError):
            os.symlink(target, path)
    return moved


def _move(path: str, quarantine: Path) -> str:
    place = quarantine / f"{secrets.token_hex(4)}-{os.path.basename(path)}"
    try:
        quarantine.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(path, place)
    except OSError as error:
        return f"it could not be moved away: {error.strerror}"
    return str(place)
