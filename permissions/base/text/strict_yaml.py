"""YAML that is not trusted: parsed in bounded time, into values that can be written again.

PyYAML fails with more than its own errors: a tag whose text does not fit (`!!bool x`) raises
KeyError, IndexError or AttributeError, nesting RecursionError. Whatever it raises is one error
here.
"""

from __future__ import annotations

import math
from typing import Final

from permissions.base.text.late_pattern import compile_late

MAX_NESTING: Final = 200
MAX_PARTS: Final = 10_000
"""Limit for documents with aliases."""
MAX_INTEGER_BITS: Final = 64
"""Of larger integers the decimal text may be refused by Python."""
_BRACKET: Final = compile_late(r"[\[\]{}]")
_TAG: Final = compile_late(r"(?<![\w)])!")


class NotYaml(ValueError):
    """A text cannot be read as YAML."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        """`line` is counted from 1; None if no line is known."""
        super().__init__(problem)
        self.line = line


def load_yaml(text: str) -> object:
    """Parse one document.

    Raises:
        NotYaml: for every other text, and for values that are too large or no JSON numbers.
    """
    import yaml  # most files have no YAML, and the import would delay the first prompt

    if _depth(text) > MAX_NESTING:
        raise NotYaml("it is nested too deeply")
    # The fast parser is unsafe with deep nesting, and treats a lone `!` as text.
    is_flat = text.count("[") + text.count("{") + text.count("- ") < MAX_NESTING
    is_fast = is_flat and _TAG.search(text) is None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader) if is_fast else yaml.SafeLoader
    try:
        value: object = yaml.load(text, Loader=loader)
    except Exception as error:
        raise _not_yaml(error) from error
    _check_values(value, has_aliases="&" in text)
    return value


def _not_yaml(error: Exception) -> NotYaml:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error)
    text = " ".join(problem.split())[:200] or type(error).__name__
    return NotYaml(text, mark.line + 1 if mark is not None else None)


def _depth(text: str) -> int:
    """Return the nesting depth of brackets; parsing time grows with its square."""
    depth = deepest = 0
    for bracket in _BRACKET.findall(text):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


def _check_values(value: object, *, has_aliases: bool) -> None:
    """Raise NotYaml if a value has too many parts after the expansion of aliases, or a number that
    JSON does not have.

    A few lines of aliases can expand to billions of parts, or refer to themselves.
    """
    waiting = [value]
    count = 0
    while waiting:
        part = waiting.pop()
        count += 1
        if has_aliases and count > MAX_PARTS:
            raise NotYaml("what its aliases (*name) stand for adds up to too much")
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set):
            waiting += part
        elif isinstance(part, int) and part.bit_length() > MAX_INTEGER_BITS:
            raise NotYaml("a number is too large")
        elif isinstance(part, float) and not math.isfinite(part):
            raise NotYaml(f"{part} is no number")
