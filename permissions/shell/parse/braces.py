"""Brace expansion as in the shell: lists and ranges, before all other expansions."""

from __future__ import annotations

from itertools import product

from permissions.base.text.late_pattern import compile_late
from permissions.base.text.star_pattern import UNKNOWN
from permissions.shell.syntax import Unparsable

MAX_BRACE_WORDS = 64
"""Maximum number of words from one brace expansion; with more, the command is unparsable."""

MAX_ALL_BRACE_WORDS = 1_000
"""Maximum number of words from all brace expansions of one command."""

OPEN, CLOSE, COMMA = "\ue010", "\ue011", "\ue012"
"""Unquoted brace characters while a word is being read."""
BRACES = {"{": OPEN, "}": CLOSE, ",": COMMA}
UNBRACE = str.maketrans({OPEN: "{", CLOSE: "}", COMMA: ","})

_RANGE = compile_late(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])")


def expand_braces(text: str) -> list[str]:
    """Return the words that a word with marked braces expands to; other braces are kept.

    Raises:
        Unparsable: There are more than `MAX_BRACE_WORDS`.
    """
    if text.count(OPEN) > MAX_BRACE_WORDS:
        raise Unparsable("a brace expansion gives too many words")
    parts = _brace_parts(text)
    if parts is None:
        return [text]
    prefix, choices, suffix = parts
    endings = expand_braces(suffix) if OPEN in suffix else [suffix]
    middles: list[str] = []
    for choice in choices:
        middles.extend(expand_braces(choice) if OPEN in choice else [choice])
        if len(middles) > MAX_BRACE_WORDS:
            raise Unparsable("a brace expansion gives too many words")
    if len(middles) * len(endings) > MAX_BRACE_WORDS:
        raise Unparsable("a brace expansion gives too many words")
    return [prefix + middle + ending for middle, ending in product(middles, endings)]


def _brace_parts(text: str) -> tuple[str, list[str], str] | None:
    """Split at the first brace that expands; None if no brace does."""
    start = text.find(OPEN)
    while start >= 0:
        depth, choices, last = 0, [], start + 1
        for position in range(start, len(text)):
            mark = text[position]
            if mark == OPEN:
                depth += 1
            elif mark == COMMA and depth == 1:
                choices.append(text[last:position])
                last = position + 1
            elif mark == CLOSE:
                depth -= 1
                if depth:
                    continue
                choices.append(text[last:position])
                alternatives = choices if len(choices) > 1 else _brace_range(choices[0])
                if alternatives is not None:
                    return text[:start], alternatives, text[position + 1 :]
                break
        start = text.find(OPEN, start + 1)
    return None


def _brace_range(body: str) -> list[str] | None:
    if ".." not in body:
        return None
    match = _RANGE.fullmatch(body)
    if match is None:
        # A range with a step or an unknown end: several words, all unknown.
        return [UNKNOWN, UNKNOWN]
    first, last = match[1], match[2]
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = int(first), int(last)
        has_zeros = first.lstrip("-").startswith("0") or last.lstrip("-").startswith("0")
        if has_zeros or abs(high - low) >= MAX_BRACE_WORDS:
            return [UNKNOWN, UNKNOWN]
        return [str(number) for number in _number_range(low, high)]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha():
        return [chr(number) for number in _number_range(ord(first), ord(last))]
    return [UNKNOWN, UNKNOWN]


def _number_range(first: int, last: int) -> range:
    """Return the numbers from first to last, both included, up or down."""
    step = 1 if first <= last else -1
    return range(first, last + step, step)
