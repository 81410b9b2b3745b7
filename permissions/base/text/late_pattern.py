"""Regular expressions that are compiled on first use.

A start imports hundreds of them and uses a few: compiling all would take a tenth of the time until
the first request.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, Generic, cast


def compile_late(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return an object that behaves like `re.compile`; an invalid expression fails on first use."""
    return cast("re.Pattern[AnyStr]", _LatePattern(expression, flags))


class _LatePattern(Generic[AnyStr]):
    """A pattern that is compiled when one of its attributes is first used."""

    def __init__(self, expression: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = expression
        self._flags = flags

    @cached_property
    def _regex(self) -> re.Pattern[AnyStr]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._regex, name)
        # Cached in the instance: later accesses do not call `__getattr__`.
        setattr(self, name, attribute)
        return attribute
