"""Name patterns as Glob takes them: `*.py` at any depth, `src/**/*.ts` from the top, `{a,b}`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

MAX_ALTERNATIVES: Final = 1_000
"""What braces may expand to; a pattern with more is taken literally."""


class GlobMatcher:
    """One pattern, compiled; asked for paths relative to the folder searched.

    Matching takes time linear in the path for every pattern, since patterns come from the model.
    """

    __slots__ = ("_expression",)

    def __init__(self, pattern: str) -> None:
        """A pattern without a slash matches the last part of a path, any other the whole path."""
        alternatives = _expand(pattern)
        if alternatives is None:
            alternatives = [re.sub(r"([*?\[{}\\])", r"\\\1", pattern)]
        self._expression = re.compile("|".join(map(_translate, alternatives)), re.DOTALL)

    def matches(self, path: str) -> bool:
        """Return whether the path, with `/` between its parts, matches."""
        return self._expression.fullmatch(path) is not None


def _expand(pattern: str) -> list[str] | None:
    """Return the pattern for each choice that its braces offer; None when there are too many."""
    start = _find(pattern, "{", 0)
    if start < 0:
        return [pattern]
    depth = 0
    cuts = [start]
    position = start
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            position += 1
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                break
        elif character == "," and depth == 1:
            cuts.append(position)
        position += 1
    else:
        # Not closed: the brace stands for itself.
        rest = _expand(pattern[start + 1 :])
        return None if rest is None else [pattern[:start] + "\\{" + tail for tail in rest]
    cuts.append(position)
    found: list[str] = []
    for begin, end in pairwise(cuts):
        choice = _expand(pattern[:start] + pattern[begin + 1 : end] + pattern[position + 1 :])
        if choice is None or len(found) + len(choice) > MAX_ALTERNATIVES:
            return None
        found += choice
    return found


def _find(pattern: str, wanted: str, position: int) -> int:
    while position < len(pattern):
        if pattern[position] == "\\":
            position += 1
        elif pattern[position] == wanted:
            return position
        position += 1
    return -1


def _translate(pattern: str) -> str:
    parts = pattern.strip("/").split("/")
    out = [] if "/" in pattern.rstrip("/") else ["(?:.*/)?"]
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            # Several in a row mean no more than one, and would cost time.
            if is_last:
                out.append(".+")
            elif parts[number - 1] != "**" or number == 0:
                out.append("(?:.*/)?")
        else:
            out.append(_translate_part(part) + ("" if is_last else "/"))
    return "".join(out)


def _translate_part(part: str) -> str:
    """Translate one name; between two stars the first fit is as good as any, so it is kept."""
    chunks: list[str] = [""]
    position = 0
    while position < len(part):
        character = part[position]
        position += 1
        if character == "*":
            if chunks[-1] or len(chunks) == 1:
                chunks.append("")
        elif character == "?":
            chunks[-1] += "[^/]"
        elif character == "[" and (end := part.find("]", position + 1)) > 0:
            chunks[-1] += _translate_class(part[position:end])
            position = end + 1
        elif character == "\\" and position < len(part):
            chunks[-1] += re.escape(part[position])
            position += 1
        else:
            chunks[-1] += re.escape(character)
    first, *others = chunks
    if not others:
        return first
    middle = "".join(f"(?>[^/]*?{chunk})" for chunk in others[:-1])
    return f"{first}{middle}[^/]*{others[-1]}"


def _translate_class(body: str) -> str:
    negated = body[:1] in ("!", "^")
    inside = re.escape(body[1:] if negated else body).replace(r"\-", "-")
    expression = f"(?!/)[{'^' if negated else ''}{inside}]"
    try:
        re.compile(expression)
    except re.error:
        # A range from high to low, for instance.
        return re.escape(f"[{body}]")
    return expression
