"""Paths in sandbox settings: `/abs`, `~/home`, or relative to a base directory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.sandbox.configuration.bounded_glob import is_pattern, matching_paths
from agent.settings.locations import expand_home
from permissions.context import PermissionContext
from permissions.matching.match_tool import Anchors
from permissions.paths.path_pattern import Anchor, PathPattern
from permissions.rule import RuleBehavior, RuleSource

_OF_THE_USER: Final = frozenset(
    {RuleSource.POLICY, RuleSource.USER, RuleSource.CLI, RuleSource.SESSION}
)


class ConfiguredPath(Struct, frozen=True):
    """A path of the settings."""

    path: str
    """Absolute; without a slash or `/**` at its end."""
    source: RuleSource

    @property
    def has_wildcards(self) -> bool:
        """Whether it is a pattern that may match several paths."""
        return is_pattern(self.path)


def read_path(text: str, source: RuleSource, base: Path, home: Path) -> ConfiguredPath:
    """Return the path that an entry means.

    Args:
        base: The directory that relative entries are resolved against.

    Raises:
        ValueError: it is not a path; the message gives the reason.
    """
    if not text.strip() or "\0" in text:
        raise ValueError("it names no path")
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        raise ValueError("only ~/ is supported, not another user's home")
    # Permission rules write an absolute path as `//abs`.
    absolute = "/" + text.lstrip("/") if text.startswith("/") else text
    path = str(base / expand_home(absolute, home))
    path = path.removesuffix("/**").rstrip("/") or "/"
    return ConfiguredPath(path, source)


def present_paths(paths: Iterable[ConfiguredPath]) -> tuple[str, ...]:
    """Return the paths that the entries match now; one without wildcards need not exist.

    Raises:
        TooManyMatches: a pattern matches, or may match, too many paths.
    """
    return tuple(dict.fromkeys(chain.from_iterable(map(_matches, paths))))


def _matches(entry: ConfiguredPath) -> Iterator[str]:
    if entry.has_wildcards:
        yield from matching_paths(entry.path)
    else:
        yield entry.path


def directories_of_edit_rules(context: PermissionContext) -> tuple[ConfiguredPath, ...]:
    """Return the paths that the user's allow rules for Edit name; project rules are ignored.

    Skips patterns with wildcards, except for a final `/**`, and rules relative to the launch
    directory, which is writable anyway.
    """
    anchors = Anchors(context)
    entries: list[ConfiguredPath] = []
    for rule in context.rules.rules:
        pattern = rule.specifier
        if (
            rule.behavior is RuleBehavior.ALLOW
            and rule.source in _OF_THE_USER
            and rule.tool.matches("Edit")
            and isinstance(pattern, PathPattern)
            and pattern.anchor is not Anchor.CURRENT
        ):
            anchor = anchors.places(pattern.anchor, rule.source, RuleBehavior.ALLOW)[-1]
            path = os.path.join(anchor, pattern.pattern).removesuffix("/**").rstrip("/")
            entry = ConfiguredPath(path, rule.source)
            if not entry.has_wildcards:
                entries.append(entry)
    return tuple(entries)
