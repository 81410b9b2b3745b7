"""Whether and when a lost or failed connection is made again."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from agent.mcp.mcp_errors import ConnectFailed, McpError

FIRST_TRIES: Final = 3
"""Attempts of a start, where what failed may pass."""
TRIES: Final = 5
"""Attempts after a connection to a remote server was lost; the wait doubles from a second."""
RESTARTS: Final = 3
RESTARTS_WITHIN_S: Final = 300.0
"""A local program is started again so often within this time."""
REOPENED: Final = 5
"""How often in a row the stream that reports changes is opened again."""


class RestartPlan:
    """Counts the attempts of one server."""

    def __init__(self, *, is_local: bool) -> None:
        """Nothing was tried yet."""
        self.attempt = 0
        self._is_local = is_local
        self._was_connected = False
        self._restarts: deque[float] = deque(maxlen=RESTARTS)

    def record_connection(self) -> None:
        """Note that a connection was made."""
        self.attempt = 0
        self._was_connected = True

    def next_wait_s(self, failure: McpError | None) -> float | None:
        """Return how long to wait before the next attempt; None is to give up.

        Args:
            failed: Why no connection was made; None where one was lost.
        """
        if failure is None and self._is_local:
            now = time.monotonic()
            if len(self._restarts) == RESTARTS and now - self._restarts[0] < RESTARTS_WITHIN_S:
                return None
            self._restarts.append(now)
            return 0.0
        if failure is not None and not (
            isinstance(failure, ConnectFailed) and failure.is_transient
        ):
            return None
        self.attempt += 1
        if self.attempt >= (TRIES if self._was_connected else FIRST_TRIES):
            return None
        return float(2 ** (self.attempt - 1))

    async def repeat(self, watch: Callable[[], Awaitable[None]]) -> None:
        """Run what ends when a stream does, again and again with growing waits, a few times."""
        for number in range(REOPENED):
            began = time.monotonic()
            await watch()
            if number and time.monotonic() - began < 1.0:
                return
            await asyncio.sleep(float(2**number))
