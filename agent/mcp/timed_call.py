"""Runs one call with two time limits: in total, and without progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from agent.mcp.mcp_errors import CallTimedOut, ServerUnavailable

Answer = TypeVar("Answer")


class CallClock:
    """Runs one call in its own task, so that a failing transport ends only that task."""

    def __init__(self, limit_s: float, idle_s: float) -> None:
        """Limits are in seconds; `idle_s` of 0 means no limit."""
        self._limit_s = limit_s
        self._idle_s = idle_s
        self._is_paused = False
        self._idle: asyncio.Timeout | None = None

    def touch(self) -> None:
        """Record progress, which resets the idle clock."""
        if self._idle is not None and self._idle_s and not self._idle.expired():
            now = asyncio.get_running_loop().time()
            self._idle.reschedule(None if self._is_paused else now + self._idle_s)

    def pause(self, is_paused: bool) -> None:
        """Stop or start the idle clock, as a server has to wait while the user is asked."""
        self._is_paused = is_paused
        self.touch()

    async def run(self, call: Awaitable[Answer]) -> Answer:
        """Await a call; it is cancelled with this task, or when a limit is reached.

        Raises:
            CallTimedOut: a limit was reached.
            ServerUnavailable: the connection ended during the call.
        """
        task = asyncio.ensure_future(call)
        try:
            async with (
                asyncio.timeout(self._limit_s),
                asyncio.timeout(self._idle_s or None) as idle,
            ):
                self._idle = idle
                await asyncio.wait({task})
        except TimeoutError:
            if self._was_idle():
                text = f"The call was ended after {self._idle_s:,.0f} s without a response."
            else:
                text = f"The call was ended after {self._limit_s:,.0f} s."
            raise CallTimedOut(text) from None
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if task.cancelled():
            raise ServerUnavailable("the connection was lost during the call")
        return task.result()

    def _was_idle(self) -> bool:
        return self._idle is not None and self._idle.expired()
