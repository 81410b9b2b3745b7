"""The words in a search result about what the sandbox hid from the search."""

from __future__ import annotations

from typing import Final

from permissions.base.text.late_pattern import compile_late

HIDDEN: Final = "not searched, since the sandbox hides credentials"
_NOTE: Final = compile_late(rf"\[(?:.*; )?({HIDDEN}: .*)\]\Z")


def hidden_part(result: str) -> str:
    """Return the note in a result of Grep or Glob; empty if there is none."""
    match = _NOTE.search(result)
    return match[1] if match is not None else ""
