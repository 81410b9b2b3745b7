"""Whether a matcher covers what happened: everything, a list of names, or a regular expression."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from hooks.config.bounded_regex import BoundedRegex

EXACT: Final = re.compile(r"[A-Za-z0-9_\- ,|]*")
STRICT_EXACT: Final = re.compile(r"[A-Za-z0-9_|]*")
SEPARATOR: Final = re.compile(r"[|,]")
JS_NAMED_GROUP: Final = re.compile(r"\(\?<(?![=!])")

TOOL_ALIASES: Final = {
    "Agent": ("Task",),
    "Task": ("Agent",),
    "TaskStop": ("KillShell", "KillBash"),
    "BashOutput": ("TaskOutput",),
}
"""Older names that users' matchers still use."""


class MatchEverything(Struct, frozen=True):
    """No matcher, an empty one, or `*`."""


class MatchNames(Struct, frozen=True):
    """A list of exact names."""

    names: frozenset[str]


class MatchPattern(Struct, frozen=True):
    """An unanchored regular expression, searched for in bounded time."""

    pattern: BoundedRegex


class MatchNothing(Struct, frozen=True):
    """A matcher that cannot be understood; `reason` explains it."""

    reason: str


Matcher = MatchEverything | MatchNames | MatchPattern | MatchNothing


@lru_cache(maxsize=512)
def parse_matcher(text: str | None, *, strict_exact: bool = False) -> Matcher:
    """Read a matcher as configured. `strict_exact` narrows what counts as a list of names."""
    if text is None or text.strip() in ("", "*"):
        return MatchEverything()
    exact = STRICT_EXACT if strict_exact else EXACT
    if exact.fullmatch(text):
        names = SEPARATOR.split(text)
        return MatchNames(frozenset(name.strip() for name in names if name.strip()))
    try:
        with warnings.catch_warnings():
            # What Python may read otherwise one day would be written over the screen.
            warnings.simplefilter("ignore")
            return _pattern(text)
    except (re.error, OverflowError, RecursionError) as error:
        return MatchNothing(f"not a regular expression: {error}")


def _pattern(text: str) -> MatchPattern | MatchNothing:
    # Most sessions have names for matchers and start without the expressions that read patterns.
    from hooks.config.bounded_regex import BoundedRegex, UnboundedPattern

    try:
        re.compile(text)
    except re.error:
        # As a whole: `[(?<x]` has no group in it.
        text = JS_NAMED_GROUP.sub("(?P<", text)
        re.compile(text)
    try:
        return MatchPattern(BoundedRegex(text))
    except UnboundedPattern as error:
        return MatchNothing(f"a pattern that could take forever: it {error}")


def covers(matcher: Matcher, value: str, *, is_agent: bool = False) -> bool:
    """Return whether the matcher covers a value; tool names are tried under older names too.

    Args:
        is_agent: The value is a kind of agent: `Explore` and `explore` are one.
    """
    if is_agent:
        candidates: tuple[str, ...] = (value, value.lower(), value.capitalize())
        if isinstance(matcher, MatchNames):
            matcher = MatchNames(frozenset(name.lower() for name in matcher.names))
    else:
        candidates = (value, *TOOL_ALIASES.get(value, ()))
    match matcher:
        case MatchEverything():
            return True
        case MatchNames(names=names):
            return any(candidate in names for candidate in candidates)
        case MatchPattern(pattern=pattern):
            return any(_is_found(pattern, candidate) for candidate in candidates)
        case MatchNothing():
            return False


@lru_cache(maxsize=4096)
def _is_found(pattern: BoundedRegex, value: str) -> bool:
    """Search once for each name: the same few tools come again and again."""
    return pattern.search(value)
