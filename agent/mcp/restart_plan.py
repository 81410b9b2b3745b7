"""Decides whether and when a lost or failed connection is reopened."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from agent.mcp.mcp_errors import ConnectFailed, McpError

FIRST_TRIES: Final = 3
"""Attempts at the start, if the failure is transient."""
TRIES: Final = 5
"""Attempts after a remote connection was lost; the wait doubles, starting at one second."""
RESTARTS: Final = 3
RESTARTS_WITHIN_S: Final = 300.0
"""Period, in seconds, for which `RESTARTS` limits the restarts of a local program."""
REOPENED: Final = 5
"""How often in a row the stream that reports changes is reopened."""


class RestartPlan:
    """Counts the attempts of one server."""

    def __init__(self, *, is_local: bool) -> None:
        """Start without attempts."""
        self.attempt = 0
        self._is_local = is_local
        self._was_connected = False
        self._restarts: deque[float] = deque(maxlen=RESTARTS)

    def record_connection(self) -> None:
        """Record that a connection was established."""
        self.attempt = 0
        self._was_connected = True

    def next_wait_s(self, failure: McpError | None) -> float | None:
        """Return the seconds to wait before the next attempt; None to give up.

        Args:
            failure: Why connecting failed; None if a connection was lost.
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
        """Run `watch`, which ends with its stream, a few times with growing waits."""
        for number in range(REOPENED):
            began = time.monotonic()
            await watch()
            if number and time.monotonic() - began < 1.0:
                return
            await asyncio.sleep(float(2**number))
