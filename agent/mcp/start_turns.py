"""Limits how many servers start at the same time, without waiting for one that hangs.
Slots limit the load on this machine, which is low after the first moments of a start. So a server
that has not connected by then releases its slot, and stays pending.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

TURN_S: Final = 2.0


class StartTurns:
    """The start slots of all servers of one kind."""

    def __init__(self, at_once: int) -> None:
        """`at_once` is the number of slots."""
        self._free = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it until the end of the block, at most `TURN_S`."""
        await self._free.acquire()
        is_over = False

        def end() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._free.release()

        timer = asyncio.get_running_loop().call_later(TURN_S, end)
        try:
            yield
        finally:
            timer.cancel()
            end()
