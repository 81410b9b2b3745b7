"""Limits concurrent agents of a run: halved when the endpoint is overloaded, then regained."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

REGAIN: Final = 0.1
"""Share of a slot that each answer adds back after an overload."""


class Slots:
    """Slots for agents, granted in the order of requests."""

    def __init__(self, most: int) -> None:
        """`most` is the number of slots, at least one."""
        self._most = max(1, most)
        self._limit = float(self._most)
        self._taken_count = 0
        self._change = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Current number of slots."""
        return int(self._limit)

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Wait for a slot and hold it in the context."""
        async with self._change:
            await self._change.wait_for(lambda: self._taken_count < self.limit)
            self._taken_count += 1
        try:
            yield
        finally:
            async with self._change:
                self._taken_count -= 1
                self._limit = min(self._most, self._limit + REGAIN)
                self._change.notify_all()

    def halve(self) -> None:
        """Halve the slots; running agents continue."""
        self._limit = max(1.0, self._limit / 2)
