"""Regular expressions that are compiled with their first use.

A start imports hundreds of them and uses a few: to compile all would take a tenth of the time until
the first request.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, AnyStr, Generic, cast


def compile_late(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return what behaves as `re.compile` with these arguments; a wrong expression fails later."""
    return cast("re.Pattern[AnyStr]", _LatePattern(expression, flags))


class _LatePattern(Generic[AnyStr]):
    """A compiled pattern, as soon as something of it is used."""

    def __init__(self, expression: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = expression
        self._flags = flags

    @cached_property
    def _regex(self) -> re.Pattern[AnyStr]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._regex, name)
        # Found in the instance from now on, without this detour.
        setattr(self, name, attribute)
        return attribute
