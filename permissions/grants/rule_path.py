"""How a path is written in a rule: from the anchor of its source, special characters escaped."""

from __future__ import annotations

from typing import Final

from permissions.context import PermissionContext
from permissions.rules.rule_set import RuleSource

UNWRITABLE: Final = "()\\\n\r"
"""Characters of paths that a rule cannot hold without being read as something else."""


def anchored_path(path: str, context: PermissionContext, destination: RuleSource) -> str | None:
    """Return a path as rules of that source write it: `/x` from their anchor, else `//x`."""
    if any(character in path for character in UNWRITABLE):
        return None
    anchor = str(context.anchor(destination))
    if path == anchor:
        return "/"
    inside = anchor != "/" and path.startswith(anchor + "/")
    return escaped_path(path[len(anchor) :] if inside else f"/{path}")


def escaped_path(path: str) -> str:
    """Return a path whose special characters of patterns stand for themselves."""
    return "".join(f"\\{one}" if one in "*?[]!#" else one for one in path)
