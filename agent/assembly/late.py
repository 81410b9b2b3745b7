"""A reference to a part that is built later than those that use it."""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class ReadTooEarlyError(RuntimeError):
    """A part was used before it was built: the order of the assembly is wrong."""


class Late(Generic[T]):
    """A value that is bound once and then read by calling it; usable wherever a callable is.

    The composition root binds each one as soon as the part is built.
    """

    def __init__(self, name: str) -> None:
        """`name` names the part in errors."""
        self._name = name
        self._value: tuple[T, ...] = ()

    def bind(self, value: T) -> T:
        """Set the value and return it.

        Raises:
            RuntimeError: a value is bound already.
        """
        if self._value:
            raise RuntimeError(f"the {self._name} is bound already")
        self._value = (value,)
        return value

    @property
    def is_bound(self) -> bool:
        """Whether a value is bound."""
        return bool(self._value)

    def __call__(self) -> T:
        """Return the value.

        Raises:
            ReadTooEarlyError: no value is bound yet.
        """
        if not self._value:
            raise ReadTooEarlyError(f"the {self._name} is used before it is built")
        return self._value[0]
