"""Names of tools for the model, rules and hooks: `mcp__server__tool`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from permissions.base.text.late_pattern import compile_late
from permissions.tool_names import remember_names

PREFIX: Final = "mcp__"
MAX_NAME: Final = 128
"""Longest name that the Messages API accepts."""
_OTHER: Final = compile_late(r"[^A-Za-z0-9_-]")
_NOT_IN_KEY: Final = compile_late(r"[^A-Za-z0-9-]+")


def server_key(name: str) -> str:
    """Return a server's part of its tools' names; runs of other characters become `_`.

    It neither contains `__` nor ends with `_`, so that the first `__` of a tool's name ends it: a
    rule for `mcp__a` does not apply to a server `a__b` or `a_`.
    """
    return _NOT_IN_KEY.sub("_", name).rstrip("_") or "server"


def full_name(server: str, tool: str) -> str:
    """Return the name of a tool; it may be too long for the model, see `is_usable`.

    Rules that deny or ask, and hooks, find the tool by Claude Code's name for it as well, which has
    one `_` for each other character, and by the configured one.
    """
    tool_part = _OTHER.sub("_", tool)
    name = f"{PREFIX}{server_key(server)}__{tool_part}"
    for spelling in dict.fromkeys((_OTHER.sub("_", server), server)):
        if spelling != server_key(server):
            whole = f"{PREFIX}{spelling}"
            remember_names(name, (whole, f"{whole}__{tool_part}"))
    return name


def is_usable(name: str) -> bool:
    """Return whether the Messages API accepts a tool of this name."""
    return len(name) <= MAX_NAME


def split_name(name: str, servers: Iterable[str]) -> tuple[str, str] | None:
    """Return the server and the rest of a tool's full name; None if no server matches."""
    for server in servers:
        start = f"{PREFIX}{server_key(server)}__"
        if name.startswith(start) and len(name) > len(start):
            return server, name[len(start) :]
    return None
