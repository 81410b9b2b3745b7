"""What was worked out lately, found by what it was worked out from."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


class Recent(Generic[_Value]):
    """Keeps the values used last: `size` of them at least, twice as many at most.

    There is no order to look after, so that finding one costs little more than in a plain mapping.
    """

    def __init__(self, size: int) -> None:
        """Nothing is kept yet."""
        self._size = size
        self._newer: dict[Hashable, _Value] = {}
        self._older: dict[Hashable, _Value] = {}

    def get(self, key: Hashable) -> _Value | None:
        """Return the value, or None when it is not kept any more."""
        found = self._newer.get(key)
        if found is None:
            found = self._older.get(key)
            if found is not None:
                self.keep(key, found)
        return found

    def keep(self, key: Hashable, value: _Value) -> None:
        """Keep a value, which is never None."""
        if len(self._newer) >= self._size:
            self._older, self._newer = self._newer, {}
        self._newer[key] = value
