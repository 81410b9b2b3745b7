"""Protocols that the gate needs from its callers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from permissions.decision import Decision, GrantChoice
from permissions.request import PermissionRequest

RefreshSettings = Callable[[], Awaitable[None]]
"""Applies settings that changed on disk; raises nothing."""


class GrantStore(Protocol):
    """Stores the rules of "don't ask again"."""

    def store(self, grant: GrantChoice) -> tuple[str, ...]:
        """Store the rules and return those that now apply. Raises OSError when a file cannot be
        written."""
        ...


class DecisionLog(Protocol):
    """Stores every final decision."""

    def write(self, decision: Decision, request: PermissionRequest) -> None:
        """Append one line. Must not raise for a full or read-only disk."""
        ...
