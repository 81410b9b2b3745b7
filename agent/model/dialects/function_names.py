"""Names of tools and ids of calls, for providers with a shorter limit than ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

NAME_LIMIT: Final = 64
"""Longest name of a function, in characters."""
SHORT_ID: Final = 9


def short_name(name: str) -> str:
    """Return a name that providers accept: a long one is cut and ends with a digest."""
    if len(name) <= NAME_LIMIT:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: NAME_LIMIT - 9]}_{digest}"


def long_names(tools: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Return short names to full names, for the tools whose name was cut."""
    names = (str(tool.get("name", "")) for tool in tools)
    return {short_name(name): name for name in names if short_name(name) != name}


def short_id(call_id: str) -> str:
    """Return an id of nine letters and digits; the same one for the same id."""
    if len(call_id) == SHORT_ID and call_id.isalnum():
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:SHORT_ID]
