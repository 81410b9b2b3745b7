"""Turns at the start: so many servers connect at the same time, and one that hangs holds up none.

A turn limits what starts cost this machine, and a start costs little after its first moments. So a
server that has not connected by then gives its turn to the next one, and stays pending.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

TURN_S: Final = 2.0


class StartTurns:
    """The turns of all servers of one kind."""

    def __init__(self, at_once: int) -> None:
        """`at_once` servers may have a turn at the same time."""
        self._free = asyncio.Semaphore(at_once)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it until the end of the block or of the turn's time."""
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
