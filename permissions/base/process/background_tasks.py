"""Small work in the background, such as recording a mode; ended before the program."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class BackgroundTasks:
    """Stores references to tasks: the event loop alone would let them be collected."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Awaitable[object]) -> None:
        """Begin, and come back."""

        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Return once all of it is done, what begins meanwhile included."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
