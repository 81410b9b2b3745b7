"""How many listeners a router holds, for tests that nothing is left behind."""

from __future__ import annotations

from tui.input.dispatch import InputRouter


def listener_count(router: InputRouter) -> int:
    return sum(len(listeners) for listeners in router._listeners.values())
