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


def find_bubblewrap(named: str | None = None) -> str | None:
    """Return the path of `bwrap`, or None; `named` is the administrator's choice."""
    packaged = str(Path(sysconfig.get_path("scripts")) / "bwrap")
    candidates = (named,) if named else (*_SYSTEM, packaged)
    return next((path for path in candidates if path and os.access(path, os.X_OK)), None)
