"""A payload as the JSON that handlers read: valid whatever a model or a tool put into it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Final

DEPTH_LIMIT: Final = 100
"""Deeper values are left out where the whole cannot be written."""


def encode_payload(payload: Mapping[str, object]) -> bytes:
    """Return a payload as UTF-8 JSON.

    Numbers that JSON does not have become null: a strict parser would fail on them, and a guard
    that fails does not guard.
    """
    try:
        text = json.dumps(payload, ensure_ascii=False, default=str, allow_nan=False)
    except (ValueError, RecursionError):
        text = json.dumps(_writable(payload, DEPTH_LIMIT), ensure_ascii=False, default=str)
    return text.encode("utf-8", errors="replace")


def _writable(value: object, depth: int) -> object:
    match value:
        case float():
            return value if math.isfinite(value) else None
        case Mapping() if depth > 0:
            return {str(name): _writable(inner, depth - 1) for name, inner in value.items()}
        case list() | tuple() if depth > 0:
            return [_writable(inner, depth - 1) for inner in value]
        case Mapping() | list() | tuple():
            return "[nested too deeply]"
        case _:
            return value
