"""The YAML head of a Markdown file, read without trust in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

MAX_CHARACTERS: Final = 20_000
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


def split(text: str) -> tuple[Mapping[str, Any], str]:
    """Return `(head, body)`; a missing or unreadable head is empty. Raises nothing."""
    match = _HEAD.match(text)
    if match is None:
        return {}, text
    body = text[match.end() :]
    if len(match[1]) > MAX_CHARACTERS:
        return {}, body
    import yaml  # most files have no head, and the first prompt should not wait for it

    try:
        head = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, body
    return (head, body) if isinstance(head, dict) else ({}, body)


def texts(value: object) -> tuple[str, ...]:
    """Return a head's list of texts, also when it is written as one text with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        return tuple(str(part) for part in value if isinstance(part, str | int))
    return ()
