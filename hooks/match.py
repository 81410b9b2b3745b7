"""Whether a matcher covers what happened: everything, a list of names, or a regular expression."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

EXACT: Final = re.compile(r"[A-Za-z0-9_\- ,|]*")
STRICT_EXACT: Final = re.compile(r"[A-Za-z0-9_|]*")
SEPARATOR: Final = re.compile(r"[|,]")
JS_NAMED_GROUP: Final = re.compile(r"\(\?<(?![=!])")

TOOL_ALIASES: Final = {
    "Agent": ("Task",),
    "TaskStop": ("KillShell", "KillBash"),
    "BashOutput": ("TaskOutput",),
}
"""Older names that people's matchers still use."""


@dataclass(frozen=True, slots=True)
class MatchEverything:
    """No matcher, an empty one, or `*`."""


@dataclass(frozen=True, slots=True)
class MatchNames:
    """A list of exact names."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class MatchPattern:
    """An unanchored regular expression."""

    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class MatchNothing:
    """A matcher that cannot be understood; `reason` says why."""

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
            return MatchPattern(re.compile(JS_NAMED_GROUP.sub("(?P<", text)))
    except (re.error, OverflowError, RecursionError) as error:
        return MatchNothing(f"not a regular expression: {error}")


def covers(matcher: Matcher, value: str) -> bool:
    """Return whether the matcher covers a value; tool names are tried under older names too."""
    candidates = (value, *TOOL_ALIASES.get(value, ()))
    match matcher:
        case MatchEverything():
            return True
        case MatchNames(names=names):
            return any(candidate in names for candidate in candidates)
        case MatchPattern(pattern=pattern):
            return any(pattern.search(candidate) for candidate in candidates)
        case MatchNothing():
            return False
