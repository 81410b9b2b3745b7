"""Path patterns of rules: gitignore syntax below an anchor.

Reading of the file rules: allow needs every spelling of a path to match, deny and ask any; a
bare name fits at any depth; `dir/**` is anchored for allow and fits at any depth for deny and
ask; a pattern that names a folder covers everything in it.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from functools import lru_cache

from permissions.grammar import Anchor, PathPattern
from permissions.paths import Target, is_below, relative_to


def matches_any(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Does some spelling fit, below some spelling of the anchor (deny and ask)?"""
    floating, regex = _restricting(pattern)
    for spelling in target.spellings:
        if floating:
            if regex.fullmatch(spelling.lstrip("/")):
                return True
            continue
        for anchor in anchors:
            below = relative_to(spelling, anchor)
            if below is not None and regex.fullmatch(below):
                return True
    return False


def matches_all(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Does every spelling fit (allow)?"""
    # A bare name fits at any depth; behind an anchor (`/x`, `//x`, `~/x`) it means that one place.
    floating = pattern.anchor is Anchor.CURRENT and floats(pattern.pattern, strict=False)
    regex = compiled_pattern(pattern.pattern, floating)
    places = tuple(anchors)
    for spelling in target.spellings:
        below = (relative_to(spelling, anchor) for anchor in places)
        if not any(path is not None and regex.fullmatch(path) for path in below):
            return False
    return True


def covers_something_below(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Could the pattern match a file inside the folder `target` (for calls that take trees)?"""
    if pattern.anchor is Anchor.CURRENT and floats(pattern.pattern, strict=True):
        # Nearly every folder could hold such a name: that would stop all removals.
        return False
    base = literal_base(pattern.pattern)
    return any(
        is_below(f"{anchor.rstrip('/')}/{base}".rstrip("/") or "/", spelling)
        for anchor in anchors
        for spelling in target.spellings
    )


def fits_everything(pattern: PathPattern) -> bool:
    """Does a deny or ask pattern fit every path there is?"""
    return pattern.anchor in (Anchor.CURRENT, Anchor.ROOT) and not pattern.pattern.strip("*/")


def first_component(pattern: PathPattern) -> str | None:
    """Return the name that every path below the anchor must start with for the pattern to fit.

    None when there is no single one: a wildcard, or a pattern that fits at any depth.
    """
    if pattern.anchor is Anchor.CURRENT and floats(pattern.pattern, strict=True):
        return None
    components = [part for part in pattern.pattern.split("/") if part not in ("", ".")]
    if not components or any(mark in components[0] for mark in "*?[\\"):
        return None
    return components[0]


def literal_base(pattern: str) -> str:
    """Return the leading components without a wildcard, joined by slashes."""
    literal: list[str] = []
    for component in pattern.rstrip("/").split("/"):
        if any(mark in component for mark in "*?["):
            break
        literal.append(component)
    return "/".join(literal)


def last_component(pattern: str) -> str:
    """Return the last component of the pattern, `**` and a final slash left out."""
    components = [part for part in pattern.split("/") if part not in ("", "**")]
    return components[-1] if components else "*"


def could_share(pattern: str, other: str) -> bool:
    """Could one name fit both patterns? Literal beginnings and ends must agree."""
    if not pattern.startswith(".") and other.startswith("."):
        # An unquoted pattern does not reach hidden files.
        return False
    if other in ("*", "**"):
        return False

    def fixed(text: str) -> tuple[str, str]:
        first = min((text.find(mark) for mark in "*?[" if mark in text), default=len(text))
        last = max((text.rfind(mark) for mark in "*?]" if mark in text), default=-1)
        return text[:first], text[last + 1 :] if last >= 0 else text

    start, end = fixed(pattern)
    other_start, other_end = fixed(other)
    starts = start.startswith(other_start) or other_start.startswith(start)
    ends = end.endswith(other_end) or other_end.endswith(end)
    if not any(mark in other for mark in "*?["):
        return fnmatch.fnmatchcase(other, pattern)
    return starts and ends


@lru_cache(maxsize=4096)
def _restricting(pattern: PathPattern) -> tuple[bool, re.Pattern[str]]:
    floating = pattern.anchor is Anchor.CURRENT and floats(pattern.pattern, strict=True)
    return floating, compiled_pattern(pattern.pattern, floating)


def floats(pattern: str, *, strict: bool) -> bool:
    """Does the pattern fit at any depth? `strict` adds the wider reading of deny and ask."""
    body = pattern.rstrip("/")
    if "/" not in body:
        return True
    if body.startswith("**/"):
        return True
    head, _, rest = body.partition("/")
    return strict and rest == "**" and head not in (".", "")


@lru_cache(maxsize=4096)
def compiled_pattern(pattern: str, floating: bool) -> re.Pattern[str]:
    """Return the expression for paths below the anchor; `floating` fits at any depth."""
    body = pattern.strip("/")
    if body.startswith("./"):
        body = body[2:]
    components = [part for part in body.split("/") if part not in ("", ".")]
    if not components:
        # The anchor itself and everything below it.
        return re.compile(r"[\s\S]*")
    pieces: list[str] = ["(?:.*/)?"] if floating and components[0] != "**" else []
    for index, component in enumerate(components):
        last = index == len(components) - 1
        if component == "**":
            if last:
                # Everything inside; the folder itself too, as removing it removes all of it.
                if pieces and pieces[-1] == "/":
                    pieces[-1] = "(?:/.*)?"
                else:
                    pieces.append(".*")
                return re.compile("".join(pieces), re.DOTALL)
            pieces.append("(?:.*/)?")
            continue
        pieces.append(_component(component))
        if not last:
            pieces.append("/")
    # A folder pattern fits the folder too: whether it exists yet must not matter.
    pieces.append("(?:/.*)?")
    return re.compile("".join(pieces), re.DOTALL)


def _component(component: str) -> str:
    pieces: list[str] = []
    position = 0
    while position < len(component):
        character = component[position]
        position += 1
        if character == "\\" and position < len(component):
            pieces.append(re.escape(component[position]))
            position += 1
        elif character == "*":
            if not pieces or pieces[-1] != "[^/]*":
                pieces.append("[^/]*")
        elif character == "?":
            pieces.append("[^/]")
        elif character == "[":
            closing = component.find(
                "]", position + 2 if component[position:][:1] in "!^" else position + 1
            )
            if closing < 0:
                pieces.append(re.escape("["))
                continue
            body = component[position:closing].replace("\\", "\\\\").replace("[", "\\[")
            if body[:1] in ("!", "^"):
                body = "^/" + body[1:]
            pieces.append(f"(?!/)[{body}]")
            position = closing + 1
        else:
            pieces.append(re.escape(character))
    try:
        re.compile("".join(pieces))
    except re.error:
        return re.escape(component)
    return "".join(pieces)
