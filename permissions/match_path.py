"""Path patterns of rules: gitignore syntax below an anchor.

Reading of the file rules: allow needs every spelling of a path to match, deny and ask any; a
bare name fits at any depth; `dir/**` is anchored for allow and fits at any depth for deny and
ask; a pattern that names a folder covers everything in it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable

from permissions.path_pattern import Anchor, PathPattern
from permissions.paths import Target, is_below, relative_to


def matches_any(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Does some spelling fit, below some spelling of the anchor (deny and ask)?"""
    floating, regex = pattern.floats_for_restrictions, pattern.restricting
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
    regex = pattern.granting
    places = tuple(anchors)
    for spelling in target.spellings:
        below = (relative_to(spelling, anchor) for anchor in places)
        if not any(path is not None and regex.fullmatch(path) for path in below):
            return False
    return True


def covers_something_below(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Could the pattern match a file inside the folder `target` (for calls that take trees)?"""
    if pattern.floats_for_restrictions:
        # Nearly every folder could hold such a name: that would stop all removals.
        return False
    base = pattern.literal_base
    return any(
        is_below(f"{anchor.rstrip('/')}/{base}".rstrip("/") or "/", spelling)
        for anchor in anchors
        for spelling in target.spellings
    )


def fits_everything(pattern: PathPattern) -> bool:
    """Does a deny or ask pattern fit every path there is?"""
    return pattern.anchor in (Anchor.CURRENT, Anchor.ROOT) and not pattern.pattern.strip("*/")


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
