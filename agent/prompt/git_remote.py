"""Where a repository comes from, read from its configuration file; nothing is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from msgspec import Struct

from permissions.base.files.plain_file import read_start
from permissions.base.text.late_pattern import compile_late

MAX_BYTES: Final = 262_144
# Blanks of one line only: a file of line breaks would be read to its end from each of them.
_ORIGIN: Final = compile_late(
    r'^[ \t]*\[remote "origin"\][ \t\r]*$(.*?)(?=^[ \t]*\[|\Z)', re.MULTILINE | re.DOTALL
)
_URL: Final = compile_late(r"^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t\r]*$", re.MULTILINE)
_WEB: Final = compile_late(r"(?:https?|ssh|git)://(?:[^@/\s]*@)?([^/:\s]+)(?::\d+)?/(\S+)")
_SCP: Final = compile_late(r"(?:[^@/\s]+@)([^:/\s]+):(\S+)")


class Remote(Struct, frozen=True):
    """A repository on a server."""

    host: str
    owner: str
    name: str


def read_remote(project_root: Path) -> Remote | None:
    """Return the repository that `origin` names; None without one, or if it is not on a server."""
    try:
        text = read_start(project_root / ".git" / "config", MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    section = _ORIGIN.search(text)
    url = _URL.search(section[1]) if section is not None else None
    return parse_remote(url[1]) if url is not None else None


def read_worktree(project_root: Path) -> str | None:
    """Return the name of a linked work tree; None for other directories. Raises nothing."""
    try:
        text = read_start(project_root / ".git", MAX_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    directory, _, name = text.partition("\n")[0].rstrip().rpartition("/")
    is_linked = directory.startswith("gitdir: ") and directory.endswith("/worktrees")
    return (name or None) if is_linked else None


def parse_remote(url: str) -> Remote | None:
    """Return the parts of a URL without its credentials; None if it is not on a server."""
    match = _WEB.fullmatch(url) or _SCP.fullmatch(url)
    if match is None:
        return None
    owner, _, name = match[2].strip("/").removesuffix(".git").rpartition("/")
    return Remote(match[1], owner, name) if owner and name else None
