"""What ends with a conversation, as callables in the order of its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


def cancelling(task: asyncio.Future[None]) -> Callable[[], Awaitable[None]]:
    """Return what cancels a task and awaits its end."""

    async def run() -> None:
        task.cancel()
        await asyncio.wait({task})

    return run


def closing(close: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    """Return what calls a plain function."""

    async def run() -> None:
        close()

    return run
