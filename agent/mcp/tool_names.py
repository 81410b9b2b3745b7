"""Names of servers and tools as the model, rules and hooks know them: `mcp__server__tool`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from permissions.base.text.late_pattern import compile_late

PREFIX: Final = "mcp__"
MAX_NAME: Final = 128
"""What the Messages API takes."""
_OTHER: Final = compile_late(r"[^A-Za-z0-9_-]")


def server_key(name: str) -> str:
    """Return a server's part of its tools' names; other characters become `_`."""
    return _OTHER.sub("_", name)


def full_name(server: str, tool: str) -> str:
    """Return the name of a tool; it may be too long for the model, see `is_usable`."""
    return f"{PREFIX}{server_key(server)}__{_OTHER.sub('_', tool)}"


def is_usable(name: str) -> bool:
    """Whether the Messages API takes a tool of this name."""
    return len(name) <= MAX_NAME


def split_name(name: str, servers: Iterable[str]) -> tuple[str, str] | None:
    """Return the server and the rest of a tool's full name; None where no server fits.

    Keys may contain `__`, so the longest one that fits counts.
    """
    for server in sorted(servers, key=len, reverse=True):
        start = f"{PREFIX}{server_key(server)}__"
        if name.startswith(start) and len(name) > len(start):
            return server, name[len(start) :]
    return None
