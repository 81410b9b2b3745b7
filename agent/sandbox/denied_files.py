"""The existing files that the deny rules of a tool match."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.context import PermissionContext
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.rules.rule_set import Rule, RuleBehavior

MAX_ENTRIES: Final = 200_000
"""Directory entries that one search examines; beyond that the confinement cannot be enforced."""
_WILD: Final = compile_late(r"[*?\[\\]")


class TooManyFiles(Exception):
    """A directory holds more names than can be compared with deny rules; the message names it."""


class _Search(Struct, frozen=True):
    """One pattern and where to look for it."""

    directory: str
    anchor: str
    pattern: PathPattern

    def fits(self, path: str) -> bool:
        regex = self.pattern.restricting
        if self.pattern.floats_for_restrictions:
            return regex.fullmatch(path.lstrip("/")) is not None
        return regex.fullmatch(path[len(self.anchor) :].lstrip("/")) is not None


def denied_files(
    context: PermissionContext, roots: Sequence[str], tool: str = "Read"
) -> tuple[str, ...]:
    """Return the canonical paths of files and directories that a tool's deny rules match.

    Args:
        roots: Canonical directories that are searched for patterns without an anchor.

    Raises:
        TooManyFiles: a search would examine more than `MAX_ENTRIES` names.
    """
    results: dict[str, None] = {}
    searches: dict[str, list[_Search]] = {}
    for rule in context.rules.rules:
        if rule.behavior is not RuleBehavior.DENY or not rule.tool.matches(tool):
            continue
        if not isinstance(rule.specifier, PathPattern):
            continue
        for search in _searches(context, rule, rule.specifier, roots):
            literal = _literal_path(search)
            if literal is None:
                searches.setdefault(search.directory, []).append(search)
            elif os.path.lexists(literal):
                results[os.path.realpath(literal)] = None
    for directory, directory_searches in searches.items():
        results.update(dict.fromkeys(_walk(directory, directory_searches)))
    return tuple(results)


def _searches(
    context: PermissionContext, rule: Rule, pattern: PathPattern, roots: Sequence[str]
) -> Iterator[_Search]:
    if pattern.floats_for_restrictions:
        for root in roots:
            yield _Search(root, root, pattern)
        return
    match pattern.anchor:
        case Anchor.ROOT:
            anchor = "/"
        case Anchor.HOME:
            anchor = str(context.home)
        case Anchor.SOURCE:
            anchor = str(context.anchor(rule.source))
        case Anchor.CURRENT:
            anchor = str(context.launch_dir)
    anchor = os.path.realpath(anchor)
    anchor = os.path.normpath(anchor + "/.." * (pattern.parents or 0))
    prefix = pattern.literal_prefix or ""
    yield _Search(os.path.join(anchor, prefix), anchor, pattern)


def _literal_path(search: _Search) -> str | None:
    """Return the path of a pattern without wildcards, else None."""
    if search.pattern.floats_for_restrictions or _WILD.search(search.pattern.pattern):
        return None
    return os.path.join(search.anchor, search.pattern.pattern.strip("/"))


def _walk(directory: str, searches: Sequence[_Search]) -> Iterator[str]:
    count = 0
    pending = [directory]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            continue
        count += len(entries)
        if count > MAX_ENTRIES:
            raise TooManyFiles(
                f"deny rules with wildcards would have to be compared with more than "
                f"{MAX_ENTRIES:,} files in {directory}"
            )
        for entry in entries:
            if any(search.fits(entry.path) for search in searches):
                yield os.path.realpath(entry.path)
            elif entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
