"""A notification that parts of the screen can send before its receivers exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")


class Signal(Generic[P]):
    """Calls its listeners in the order in which they were connected; there may be none."""

    def __init__(self) -> None:
        self._listeners: list[Callable[P, object]] = []

    def connect(self, listener: Callable[P, object]) -> None:
        """Call the listener with every notification from now on."""
        self._listeners.append(listener)

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> None:
        """Notify the listeners; their exceptions are not caught."""
        for listener in self._listeners:
            listener(*args, **keywords)
