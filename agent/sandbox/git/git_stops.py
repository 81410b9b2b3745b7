"""Shared by `checked_git` and this program: paths, and the messages of a git that was not run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from permissions.base.text.late_pattern import compile_late

REAL_GIT: Final = "/dev/.agent-tui/git"
"""Path of the real git inside the sandbox; elsewhere no new mount point can be created."""
MAKES_TREE: Final = "AGENT_TUI_GIT_MAKES_TREE"
"""Set for a git command that creates a work tree, so that git processes it starts run unchecked."""
MAX_STOPS: Final = 10
_STOP: Final = "agent-tui: git was not run: it would change {path}, which it cannot write here"
UNKNOWN_STOP: Final = (
    "agent-tui: git was not run: what it would change in {top} is not known: {reason}"
)
_READ: Final = compile_late(
    r"^agent-tui: git was not run: (?:it would change (?P<path>/.*), which it cannot write here"
    r"|what it would change in (?P<top>/.*) is not known: .*)$",
    re.MULTILINE,
)


def stop_line(path: str) -> str:
    """Return the line for one path that git would have changed."""
    return _STOP.format(path=path.replace("\n", "?"))


def read_stops(output: str) -> Iterator[tuple[str, bool]]:
    """Yield `(path, True)` for each path that git would have changed, `(top, False)` if unknown."""
    for match in _READ.finditer(output):
        yield (match["path"], True) if match["path"] else (match["top"], False)
