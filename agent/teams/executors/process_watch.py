"""Waits for the end of any process: by a process descriptor, else by polling."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from agent.teams.lease import holder

ASK_S: Final = 0.2
"""Polling interval, in seconds, without process descriptors or while waiting for a lease."""
START_S: Final = 30.0
"""How long, in seconds, a process may take to acquire its lease."""


async def lease_holder(lease: Path) -> int:
    """Wait for a process to acquire the lease and return its id; 0 after `START_S`."""
    waited_s = 0.0
    while (pid := holder(lease)) is None:
        if waited_s >= START_S:
            return 0
        await asyncio.sleep(ASK_S)
        waited_s += ASK_S
    return pid


async def process_end(pid: int, is_alive: Callable[[], bool]) -> None:
    """Wait for the end of a process; `is_alive` is polled if the system cannot report it."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # another system, or another user's process
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
