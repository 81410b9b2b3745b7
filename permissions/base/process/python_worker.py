"""Python programs of our own that run in a process of their own, with an empty environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from permissions.base.process.spawn import Launch


def python_worker(script: Path, directory: Path) -> Launch:
    """Return how to start a script of this program that imports installed packages.

    It searches for modules where this process does, and neither in `directory`, its working
    directory, nor beside the script. `python -I` would not find what `pip install --user` installs.
    """
    path = os.pathsep.join(filter(os.path.isabs, sys.path))
    return Launch((sys.executable, "-P", "-s", str(script)), {"PYTHONPATH": path}, directory)
