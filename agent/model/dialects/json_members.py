"""Reads untrusted JSON: a member of the wrong type counts as absent."""

from __future__ import annotations

from collections.abc import Mapping


def record(parent: Mapping[str, object], name: str) -> Mapping[str, object]:
    """Return a member that is an object; else an empty one."""
    value = parent.get(name)
    return value if isinstance(value, Mapping) else {}


def array(parent: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """Return the objects of a member that is a list; empty for anything else."""
    value = parent.get(name)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def text(parent: Mapping[str, object], name: str) -> str:
    """Return a member that is a string; else an empty one."""
    value = parent.get(name)
    return value if isinstance(value, str) else ""


def count(parent: Mapping[str, object], name: str) -> int:
    """Return a member that is a positive integer; else 0."""
    value = parent.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and value > 0 else 0
