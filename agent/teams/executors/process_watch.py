"""When a process ends that need not be a child: by its descriptor, else by asking."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.teams.lease import holder

ASK_S: Final = 0.2
"""How often is asked, where the system has no descriptors of processes or a lease is awaited."""
START_S: Final = 30.0
"""How long a process may take until it has its lease."""


async def lease_holder(lease: Path) -> int:
    """Return the process that takes the lease; 0 where none does for too long."""
    waited_s = 0.0
    while (pid := holder(lease)) is None:
        if waited_s >= START_S:
            return 0
        await asyncio.sleep(ASK_S)
        waited_s += ASK_S
    return pid


async def process_end(pid: int, is_alive: Callable[[], bool]) -> None:
    """Return once a process has ended; `is_alive` is asked where that is not reported."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # another system, or another user's
        while is_alive():  # noqa: ASYNC110 - nothing reports it
            await asyncio.sleep(ASK_S)
        return
    loop, end_event = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, end_event.set)
        await end_event.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
