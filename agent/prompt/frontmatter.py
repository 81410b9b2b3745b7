"""The YAML head of a Markdown file, read without trust in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_CHARACTERS: Final = 20_000
_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)


_PLAIN: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9_-]*):[ \t]+([A-Za-z/$(](?:[^\t\r\n]*[^\s:])?)[ \t]*"
)
"""A key, and a text that YAML takes as it is: a letter first, and no colon at its end."""
_NOT_TEXT: Final = frozenset({"true", "false", "yes", "no", "on", "off", "null"})
"""What YAML reads as something else."""
MAX_NESTING: Final = 200
_LINE: Final = re.compile(r"^([A-Za-z][A-Za-z0-9_-]*):[ \t]*(.*)$")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file, what follows it, and what was wrong with it."""

    values: Mapping[str, Any]
    body: str
    problem: str = ""
    """Why the head could not be read as YAML; what its single lines say still counts."""


def read_head(text: str) -> Head:
    """Return the head with what is wrong about it. Raises nothing.

    People write `description: Fix: the bug` and `argument-hint: [from] [to]`, which is no YAML:
    such a head is read line by line, and nothing is said where each line is plainly whole.
    """
    match = _HEAD.match(text)
    if match is None:
        unclosed = text.startswith(("---\n", "---\r\n"))
        return Head({}, text, "the head has no closing ---" if unclosed else "")
    body = text[match.end() :]
    if len(match[1]) > MAX_CHARACTERS:
        return Head({}, body, f"the head is longer than {MAX_CHARACTERS:,} characters")
    plain = _plain_lines(match[1])
    if plain is not None:
        return Head(plain, body)
    import yaml  # as in `split`

    try:
        values = _load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        values = _line_by_line(match[1])
        if all(_is_whole(line) for line in match[1].splitlines()):
            return Head(values, body)
        problem = " ".join(str(error).split())[:200] or type(error).__name__
        return Head(values, body, f"the head is no valid YAML: {problem}")
    if values is None:
        return Head({}, body)
    if not isinstance(values, dict):
        return Head({}, body, "the head is no list of `key: value` lines")
    return Head({str(key): value for key, value in values.items()}, body)


def _plain_lines(head: str) -> dict[str, Any] | None:
    """Return a head of `key: plain text` lines, as YAML reads it; None for any other.

    Nearly all heads are such, and hundreds of them are read before the first prompt can leave.
    """
    found: dict[str, Any] = {}
    for line in head.splitlines():
        match = _PLAIN.fullmatch(line)
        if match is None or match[2].lower() in _NOT_TEXT or ": " in match[2] or " #" in match[2]:
            return None
        found[match[1]] = match[2]
    return found


def _load(text: str) -> Any:
    """Read YAML, by the fast parser where it is built and the nesting is no danger to it."""
    import yaml  # as in `split`

    is_flat = text.count("[") + text.count("{") + text.count("- ") < MAX_NESTING
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if is_flat else yaml.SafeLoader
    return yaml.load(text, Loader=loader)


def _is_whole(line: str) -> bool:
    """Whether a line says all of what it says: a key and a text with nothing left open."""
    if not line.strip() or line.startswith("#"):
        return True
    match = _LINE.match(line.rstrip())
    if match is None:
        return False
    value = match[2].strip()
    pairs = (("[", "]"), ("{", "}"), ("(", ")"))
    if ": " in value:
        # Perhaps two lines that became one.
        return False
    if any(value.count(opening) != value.count(closing) for opening, closing in pairs):
        return False
    if value.startswith(("'", '"')):
        return value.count(value[0]) % 2 == 0
    return not value.startswith(("|", ">"))


def _line_by_line(head: str) -> dict[str, Any]:
    import yaml  # as in `split`

    found: dict[str, Any] = {}
    for line in head.splitlines():
        match = _LINE.match(line.rstrip())
        if match is None or not match[2].strip():
            continue
        try:
            found[match[1]] = yaml.safe_load(match[2])
        except (yaml.YAMLError, ValueError, RecursionError):
            found[match[1]] = match[2].strip()
        if isinstance(found[match[1]], dict):
            found[match[1]] = match[2].strip()
    return found


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
        head = _load(match[1])
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
