"""Write a program's output as a recording for asciinema, in its file format version 2."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from benchmarks.program import Output, TerminalEvent

LONGEST_PAUSE_S: Final = 2.5
"""Longer pauses are shortened, because watching a model think is boring."""


def as_cast(
    events: Iterable[TerminalEvent], *, columns: int, rows: int, title: str, start_s: float
) -> str:
    """Return a header and one line for each output; times are relative to `start_s`.

    A character that was split between two outputs is part of the second.
    """
    lines = [
        json.dumps(
            {
                "version": 2,
                "width": columns,
                "height": rows,
                "idle_time_limit": LONGEST_PAUSE_S,
                "title": title,
                "env": {"TERM": "xterm-256color"},
            }
        )
    ]
    rest = b""
    for event in events:
        if isinstance(event, Output):
            data = rest + event.data
            cut = _whole(data)
            rest = data[cut:]
            if text := data[:cut].decode("utf-8", "replace"):
                at_s = round(max(0.0, event.at_s - start_s), 3)
                lines.append(json.dumps([at_s, "o", text], ensure_ascii=False))
    return "\n".join([*lines, ""])


def _whole(data: bytes) -> int:
    """Return the length of the longest prefix that ends with a complete UTF-8 character."""
    for distance in range(1, min(4, len(data)) + 1):
        byte = data[-distance]
        if byte < 0x80:
            return len(data)
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) if distance >= length else len(data) - distance
    return len(data)
