"""Path patterns of rules: gitignore syntax below an anchor.

An allow rule must match every spelling of a path, a deny or ask rule any; a bare name matches at
any depth; `dir/**` is anchored for allow and matches at any depth for deny and ask; a pattern that
names a directory covers everything in it.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from functools import cached_property

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import without_brackets
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.paths.resolve import Target, is_below, relative_to


def matches_any(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Return whether any spelling matches below any spelling of the anchor (deny and ask)."""
    floating, regex = pattern.floats_for_restrictions, pattern.restricting
    for spelling in target.spellings:
        if floating:
            if regex.fullmatch(spelling.lstrip("/")):
                return True
            continue
        for anchor in anchors:
            relative_path = relative_to(spelling, anchor)
            if relative_path is not None and regex.fullmatch(relative_path):
                return True
    return False


def matches_all(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Return whether every spelling matches (allow)."""
    regex = pattern.granting
    places = tuple(anchors)
    for spelling in target.spellings:
        relative_paths = (relative_to(spelling, anchor) for anchor in places)
        if not any(path is not None and regex.fullmatch(path) for path in relative_paths):
            return False
    return True


def covers_something_below(pattern: PathPattern, target: Target, anchors: Iterable[str]) -> bool:
    """Return whether the pattern could match a file inside the directory `target`."""
    if pattern.floats_for_restrictions:
        # Nearly every directory could contain such a name: that would stop all removals.
        return False
    base = pattern.literal_base
    return any(
        is_below(f"{anchor.rstrip('/')}/{base}".rstrip("/") or "/", spelling)
        for anchor in anchors
        for spelling in target.spellings
    )


def fits_everything(pattern: PathPattern) -> bool:
    """Return whether a deny or ask pattern matches every path."""
    is_anywhere = pattern.anchor in (Anchor.CURRENT, Anchor.ROOT) and pattern.parents is None
    return is_anywhere and not pattern.pattern.strip("*/")


class LastNames:
    """The last components of path patterns, for comparison with the patterns of a command."""

    def __init__(self, patterns: Iterable[PathPattern]) -> None:
        """The place of a name is the index of the first pattern that ends with it."""
        self._places: dict[str, int] = {}
        for place, pattern in enumerate(patterns):
            self._places.setdefault(pattern.last_component, place)

    @cached_property
    def _literal(self) -> tuple[str, ...]:
        return tuple(name for name in self._places if not _WILD.search(name))

    @cached_property
    def _wild(self) -> tuple[tuple[str, str, str], ...]:
        names = (name for name in self._places if _WILD.search(name))
        return tuple((name, *_fixed_affixes(name)) for name in names if name not in ("*", "**"))

    def first_shared(self, pattern: str) -> int | None:
        """Return the place of the first path pattern that may share a name with `pattern`, or None.

        Literal prefixes and suffixes must be compatible; names are single components.
        """
        # A pattern longer than any name is slow to parse: it counts as matching all.
        bare_pattern = without_brackets(pattern)
        bare_pattern = bare_pattern if len(bare_pattern) <= _LONGEST_PATTERN else "*"
        shared_names = fnmatch.filter(self._literal, bare_pattern)
        start, end = _fixed_affixes(pattern)
        for name, first, last in self._wild:
            starts = start.startswith(first) or first.startswith(start)
            if starts and (end.endswith(last) or last.endswith(end)):
                shared_names.append(name)
        # An unquoted pattern does not reach hidden files.
        fitting = (name for name in shared_names if pattern.startswith(".") or name[:1] != ".")
        return min((self._places[name] for name in fitting), default=None)


_WILD = compile_late(r"[*?\[]")
_LONGEST_PATTERN = 255
"""In characters; `fnmatch` needs quadratic time for brackets."""


def _fixed_affixes(pattern: str) -> tuple[str, str]:
    """Return the text before the first and after the last wildcard."""
    first = min((pattern.find(mark) for mark in "*?[" if mark in pattern), default=len(pattern))
    last = max((pattern.rfind(mark) for mark in "*?]" if mark in pattern), default=-1)
    return pattern[:first], pattern[last + 1 :] if last >= 0 else pattern
