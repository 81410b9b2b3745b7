"""Parse the YAML frontmatter of a Markdown file, which is not trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.strict_yaml import NotYaml, load_yaml

MAX_CHARACTERS: Final = 20_000
_HEAD = compile_late(r"\A---[ \t]*\r?\n(.*?)(?:^|\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_BEGUN: Final = compile_late(r"^[^\w\n]*([A-Za-z][A-Za-z0-9_-]*)", re.MULTILINE)
_LINE: Final = compile_late(r"^([A-Za-z][A-Za-z0-9_-]*):[ \t]*(.*)$")
_SECOND_KEY: Final = compile_late(
    r"\s(?:name|description|(?:allowed-|disallowed-)?tools|model|effort|color|agent|argument-hint|hooks):\s"
)
"""Matches a second key in a value: two lines that were joined."""


class FrontMatter(Struct, frozen=True):
    """The frontmatter of a file, its body, and a problem of the frontmatter."""

    values: Mapping[str, object]
    body: str
    problem: str = ""
    """Why the frontmatter is not valid YAML; its single lines are still used."""
    unread: frozenset[str] = frozenset()
    """Keys at the start of a line of invalid frontmatter that have no value; in lower case."""


def read_head(text: str) -> FrontMatter:
    """Return the frontmatter and what is wrong with it. Raises nothing.

    Users write `description: Fix: the bug` and `argument-hint: [from] [to]`, which is not valid
    YAML: such values are read as plain text; if that fails, the frontmatter is read line by line.
    Nothing is reported if each such line is clearly complete.
    """
    match = _HEAD.match(text)
    if match is None:
        is_unclosed = text.startswith(("---\n", "---\r\n"))
        return FrontMatter({}, text, "the head has no closing ---" if is_unclosed else "")
    body = text[match.end() :]
    if len(match[1]) > MAX_CHARACTERS:
        return FrontMatter({}, body, f"the head is longer than {MAX_CHARACTERS:,} characters")
    head = match[1]
    try:
        values = load_yaml(head)
    except NotYaml as error:
        as_texts, changed_lines = _quote_texts(head)
        values = _load_or_none(as_texts)
        if isinstance(values, dict):
            is_plain = all(map(_is_whole, changed_lines))
            problem = (
                "" if is_plain else f"the front matter is not valid YAML: {_problem_text(error)}"
            )
            return FrontMatter({str(key): one for key, one in values.items()}, body, problem)
        values = _line_by_line(head)
        if all(_is_whole(line) for line in head.splitlines()):
            return FrontMatter(values, body)
        problem = f"the front matter is not valid YAML: {_problem_text(error)}"
        first_words = {word.lower() for word in _BEGUN.findall(head)}
        return FrontMatter(
            values, body, problem, frozenset(first_words - {key.lower() for key in values})
        )
    if values is None:
        return FrontMatter({}, body)
    if not isinstance(values, dict):
        return FrontMatter({}, body, "the front matter is not a list of `key: value` lines")
    return FrontMatter({str(key): value for key, value in values.items()}, body)


def _problem_text(error: NotYaml) -> str:
    """Return a parser's error message, with the line number in the file."""
    # The frontmatter begins after the line of dashes.
    return f"line {error.line + 1}: {error}" if error.line is not None else str(error)


def _is_whole(line: str) -> bool:
    """Whether a line is complete: a key and a text without unclosed brackets or quotes."""
    if not line.strip() or line.startswith("#"):
        return True
    match = _LINE.match(line.rstrip())
    if match is None:
        return False
    value = match[2].strip()
    pairs = (("[", "]"), ("{", "}"), ("(", ")"))
    if _SECOND_KEY.search(value):
        return False
    if any(value.count(opening) != value.count(closing) for opening, closing in pairs):
        return False
    if value.startswith(("'", '"')):
        return value.count(value[0]) % 2 == 0
    return not value.startswith(("|", ">"))


def _quote_texts(head: str) -> tuple[str, list[str]]:
    """Quote one-line values that are not valid YAML; return the frontmatter and those lines."""
    lines: list[str] = []
    changed_lines: list[str] = []
    for line in head.splitlines():
        match = _LINE.match(line.rstrip())
        value = match[2].strip() if match is not None else ""
        if match is not None and value and _needs_quotes(value):
            changed_lines.append(line)
            line = f"{match[1]}: {json.dumps(value, ensure_ascii=False)}"
        lines.append(line)
    return "\n".join(lines), changed_lines


def _needs_quotes(value: str) -> bool:
    """Whether a value is invalid YAML, or would be parsed as a mapping where a text is meant."""
    is_open = value[0] in "\"'" and value.count(value[0]) % 2 == 1
    if value.startswith(("|", ">", "#", "~", "null")) or is_open:
        return False
    loaded_value = _load_or_none(value)
    return loaded_value is None or (isinstance(loaded_value, dict) and value[0] != "{")


def _load_or_none(text: str) -> object:
    try:
        return load_yaml(text)
    except NotYaml:
        return None


def _line_by_line(head: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for line in head.splitlines():
        match = _LINE.match(line.rstrip())
        if match is None or not match[2].strip():
            continue
        try:
            values[match[1]] = load_yaml(match[2])
        except NotYaml:
            values[match[1]] = match[2].strip()
        if isinstance(values[match[1]], dict):
            values[match[1]] = match[2].strip()
    return values


def split(text: str) -> tuple[Mapping[str, object], str]:
    """Return `(frontmatter, body)`; missing or invalid frontmatter is empty. Raises nothing."""
    match = _HEAD.match(text)
    if match is None:
        return {}, text
    body = text[match.end() :]
    if len(match[1]) > MAX_CHARACTERS:
        return {}, body
    try:
        head = load_yaml(match[1])
    except NotYaml:
        return {}, body
    return (head, body) if isinstance(head, dict) else ({}, body)


def texts(value: object) -> tuple[str, ...]:
    """Return a list of texts, which may also be written as one text with commas."""
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    if isinstance(value, list):
        return tuple(str(part) for part in value if isinstance(part, str | int))
    return ()


def split_rules(text: str) -> tuple[str, ...]:
    """Split a line of rules at commas and spaces outside of parentheses."""
    rules: list[str] = []
    current = ""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")" and depth > 0)
        if depth == 0 and (char == "," or char.isspace()):
            rules.append(current)
            current = ""
        else:
            current += char
    return tuple(rule for rule in (r.strip() for r in (*rules, current)) if rule)
