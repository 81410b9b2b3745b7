"""Name patterns as Glob takes them: `*.py` at any depth, `src/**/*.ts` from the top, `{a,b}`."""

from __future__ import annotations

import re
from typing import Final

_MAX_ALTERNATIVES: Final = 1_000


class GlobMatcher:
    """One pattern, compiled; asked for paths relative to the folder searched."""

    __slots__ = ("_expression",)

    def __init__(self, pattern: str) -> None:
        """A pattern without a slash matches the last part of a path, any other the whole path."""
        anywhere = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
        self._expression = re.compile(anywhere + _translate(pattern.strip("/")), re.DOTALL)

    def matches(self, path: str) -> bool:
        """Return whether the path, with `/` between its parts, matches."""
        return self._expression.fullmatch(path) is not None


def _translate(pattern: str) -> str:
    """Return a regular expression; what is not closed stands for itself."""
    out: list[str] = []
    depth = 0
    alternatives = 0
    position = 0
    while position < len(pattern):
        character = pattern[position]
        position += 1
        if character == "*":
            stars = 1
            while pattern[position : position + 1] == "*":
                position += 1
                stars += 1
            starts_part = position == stars or pattern[position - stars - 1] == "/"
            if stars == 1 or not starts_part:
                out.append("[^/]*")
            elif pattern[position : position + 1] == "/":
                position += 1
                out.append("(?:.*/)?")
            else:
                out.append(".*")
        elif character == "?":
            out.append("[^/]")
        elif character == "[" and (end := pattern.find("]", position + 1)) > 0:
            body = pattern[position:end]
            negated = body[:1] in ("!", "^")
            inside = re.escape(body[1:] if negated else body).replace(r"\-", "-")
            out.append(f"(?!/)[{'^' if negated else ''}{inside}]")
            position = end + 1
        elif character == "{" and "}" in pattern[position:]:
            depth += 1
            out.append("(?:")
        elif character == "}" and depth:
            depth -= 1
            out.append(")")
        elif character == "," and depth and alternatives < _MAX_ALTERNATIVES:
            alternatives += 1
            out.append("|")
        elif character == "\\" and position < len(pattern):
            out.append(re.escape(pattern[position]))
            position += 1
        else:
            out.append(re.escape(character))
    try:
        expression = "".join(out) + ")" * depth
        re.compile(expression)
    except re.error:
        return re.escape(pattern)
    return expression
