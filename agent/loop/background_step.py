"""Work between two requests whose waits a user should see: its events come out as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Generic, TypeVar

from agent.events import AgentEvent
from agent.tools.event_queue import Emitter, SideEvents

T = TypeVar("T")


class SideWork(Generic[T]):
    """Iterate `events`, then read `result`."""

    def __init__(
        self,
        work: Awaitable[T],
        side: SideEvents | None,
        *,
        turn_id: str,
        agent_id: str | None = None,
    ) -> None:
        """Start the work; what it puts into `side` comes out of `events`."""
        self._emitter = Emitter(turn_id, agent_id)
        if side is not None:
            side.attach(self._emitter)
        self._task = asyncio.ensure_future(work)
        self._task.add_done_callback(lambda _: self._emitter.wake())

    @property
    def result(self) -> T:
        """What the work came to; raises what it raised."""
        return self._task.result()

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Yield events until the work has ended; abandoned, the work is cancelled."""
        try:
            while not self._task.done():
                await self._emitter.wait()
                for event in self._emitter.drain():
                    yield event
            for event in self._emitter.drain():
                yield event
        finally:
            if not self._task.done():
                self._task.cancel()
                await asyncio.wait({self._task})
