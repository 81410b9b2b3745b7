"""Whether a matcher covers what happened: everything, a list of names, or a regular expression."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Final

from msgspec import Struct

from permissions.base.text.late_pattern import compile_late
from permissions.tool_names import restricting_names

EXACT: Final = compile_late(r"[A-Za-z0-9_\- ,|]*")
STRICT_EXACT: Final = compile_late(r"[A-Za-z0-9_|]*")
SEPARATOR: Final = compile_late(r"[|,]")
JS_NAMED_GROUP: Final = compile_late(r"\(\?<(?![=!])")

TOOL_ALIASES: Final = {
    "Agent": ("Task",),
    "Task": ("Agent",),
    "TaskStop": ("KillShell", "KillBash"),
    "BashOutput": ("TaskOutput",),
}
"""Older names that users' matchers still use."""


LONGEST_VALUE_CHARS: Final = 128
"""A longer value matches every pattern: no tool has such a name."""
MAX_STEPS_LOG2: Final = 24
"""Limit of the steps of a search in the longest value: some tenths of a second."""


class MatchEverything(Struct, frozen=True):
    """No matcher, an empty one, `*`, or a pattern that could take forever, with a `reason`."""

    reason: str = ""


class MatchNames(Struct, frozen=True):
    """A list of exact names."""

    names: frozenset[str]


class MatchPattern(Struct, frozen=True):
    """An unanchored regular expression, searched for in bounded time."""

    pattern: re.Pattern[str]


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
            # Warnings about syntax that may change would be written over the screen.
            warnings.simplefilter("ignore")
            return _pattern(text)
    except (re.error, OverflowError, RecursionError) as error:
        return MatchNothing(f"not a regular expression: {error}")


def _pattern(text: str) -> MatchPattern | MatchEverything:
    try:
        pattern = re.compile(text)
    except re.error:
        # Only if the pattern does not compile as it is: `[(?<x]` has no group in it.
        pattern = re.compile(JS_NAMED_GROUP.sub("(?P<", text))
    if _steps_log2(text) > MAX_STEPS_LOG2:
        return MatchEverything("a pattern with too many repetitions, which could take forever")
    return MatchPattern(pattern)


_LITERAL: Final = compile_late(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""An escaped character or a set of characters: each matches one character."""
_NO_CHOICE: Final = compile_late(r"(?<=\()\?|(?<=[*+?}])[?+]|\.\*\$?\Z")
"""Adds no choice: `?` after `(`, a lazy or possessive suffix, a final `.*`."""
_REPEATS: Final = compile_late(r"[*+]|\{\d*,\d*\}")
_REPEATS_GROUP: Final = compile_late(r"\)[*+{]")


def _steps_log2(text: str) -> int:
    """Return a rough upper limit of the steps that a search takes, as a power of two.

    `re` backtracks: each repetition multiplies the steps by the length of the value, each choice by
    the number of its alternatives.
    """
    text = _NO_CHOICE.sub("", _LITERAL.sub("x", text))
    if _REPEATS_GROUP.search(text):
        return MAX_STEPS_LOG2 + 1
    return max(map(_steps_of_one_log2, _alternatives(text)))


def _steps_of_one_log2(text: str) -> int:
    """The same for one alternative: the choices of all groups in it multiply."""
    places = LONGEST_VALUE_CHARS.bit_length() - 1
    bars = [0]
    choices = text.count("?")
    for sign in text:
        if sign == "(":
            bars.append(0)
        elif sign == "|":
            bars[-1] += 1
        elif sign == ")" and len(bars) > 1:
            choices += bars.pop().bit_length()
    return places * (1 + len(_REPEATS.findall(text))) + choices


def _alternatives(text: str) -> list[str]:
    """Split a pattern at the bars outside of groups."""
    results, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and depth == 0:
            results.append("")
        else:
            results[-1] += sign
    return results


def covers(matcher: Matcher, value: str, *, is_agent: bool = False) -> bool:
    """Return whether the matcher covers a value; tool names are tried under older names too.

    Args:
        is_agent: The value is an agent type: `Explore` and `explore` are the same.
    """
    if is_agent:
        candidates: tuple[str, ...] = (value, value.lower(), value.capitalize())
        if isinstance(matcher, MatchNames):
            matcher = MatchNames(frozenset(name.lower() for name in matcher.names))
    else:
        candidates = (*restricting_names(value), *TOOL_ALIASES.get(value, ()))
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
def _is_found(pattern: re.Pattern[str], value: str) -> bool:
    """Search, with a cache: the same few tool names recur."""
    return len(value) > LONGEST_VALUE_CHARS or pattern.search(value) is not None
