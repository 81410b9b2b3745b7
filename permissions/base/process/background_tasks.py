"""Small work in the background, such as recording a mode; ended before the program."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable


class BackgroundTasks:
    """Keeps references to tasks, which could be garbage-collected otherwise."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Awaitable[object]) -> None:
        """Start without waiting."""

        async def run() -> None:
            await work

        task = asyncio.ensure_future(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait for all tasks, including those that are started meanwhile."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))
