"""The installed command: takes the current directory off the import path, then starts `tui.cli`.

`python -m agent_tui` and `PYTHONPATH=.` look for modules in the current directory first. A project
with a `json.py` or a `tui` of its own would have it run before anything is asked.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run the program and return its exit status."""
    sys.path[:] = _without_project(sys.path)
    from tui.cli import main as run  # from the path that is clean now

    return run()


def _without_project(path: list[str]) -> list[str]:
    try:
        current = os.getcwd()
    except OSError:
        return path
    own = os.path.dirname(os.path.abspath(__file__))
    return [entry for entry in path if entry and (entry == own or entry != current)]


if __name__ == "__main__":
    sys.exit(main())
