"""Where bubblewrap is: the system's, else the one that the optional package installs."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Final

_SYSTEM: Final = (
    "/usr/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
)
"""Fixed places: never looked up in `PATH`, which may lead into a project."""


def find_bubblewrap(choice: str | None = None) -> str | None:
    """Return the path of `bwrap`, or None; `choice` is the administrator's choice."""
    package_path = str(Path(sysconfig.get_path("scripts")) / "bwrap")
    candidates = (choice,) if choice else (*_SYSTEM, package_path)
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)
