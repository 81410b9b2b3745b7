"""The keyboard modes, in order of priority: only the first open one receives a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from tui.input.event import RoutedEvent


def _always() -> bool:
    return True


class KeyMode(Struct, frozen=True):
    """A mode that receives all keys while it is open."""

    press: Callable[[RoutedEvent], bool]
    """Handles a key; returns whether to claim it. Otherwise the focused widget receives it."""
    is_open: Callable[[], bool] = _always
    close: Callable[[], None] | None = None
    """Called for Ctrl+C; None if the mode leaves that key to the program."""


class KeyModes:
    """Finds the open mode; the last mode is always open."""

    def __init__(self, modes: Sequence[KeyMode]) -> None:
        """`modes` are in order of priority, the topmost first."""
        self._modes = modes

    def on_key(self, event: RoutedEvent) -> None:
        """Pass a key to the topmost open mode, and claim it if the mode handles it."""
        top = next(mode for mode in self._modes if mode.is_open())
        if top.press(event):
            event.claim()

    def close_open(self) -> bool:
        """Close the topmost open mode that Ctrl+C closes; False if there is none."""
        for mode in self._modes:
            if mode.close is not None and mode.is_open():
                mode.close()
                return True
        return False
