"""Wait until an event loop is idle, however busy the machine is.

Textual's own wait compares processor time with the clock: it sleeps 40 ms for each key, and up to a
second if another program keeps the processor busy. This one asks the loop itself.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest
import textual.app
import textual.pilot
from textual.pilot import Pilot

HORIZON_S: Final = 0.04
"""Timers that are due this soon are waited for, because a frame is drawn after 33 ms."""
_QUIET_ROUNDS: Final = 3
"""A callback may schedule another one for the next round."""
_LONGEST_S: Final = 1.0
"""Limit of the wait in case of a repeating timer or a waiting thread."""


async def wait_for_idle(min_sleep: float = 0.0, max_sleep: float = _LONGEST_S) -> None:
    """Return when no callback is ready, no timer is due soon and no thread works for the loop."""
    loop: Any = asyncio.get_running_loop()
    limit_s = loop.time() + max_sleep
    if min_sleep:
        await asyncio.sleep(min_sleep)
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        await asyncio.sleep(0)
        quiet = 0 if loop._ready else quiet + 1
        if quiet < _QUIET_ROUNDS or loop.time() > limit_s:
            continue
        if (due_s := _next_timer(loop)) is not None:
            await asyncio.sleep(max(0.0, due_s - loop.time()))
            quiet = 0
        elif _has_working_thread(loop):
            await asyncio.sleep(0.001)
            quiet = 0


async def _wait_for_screen(_pilot: Pilot[Any], timeout: float = _LONGEST_S) -> bool:
    """Stands for a wait that sends a message to every widget, which takes longer than most keys."""
    await wait_for_idle(max_sleep=timeout)
    return True


def _next_timer(loop: Any) -> float | None:
    """Return when the next timer is due, in the loop's seconds; None if none is due soon."""
    limit_s = loop.time() + HORIZON_S
    due = [timer.when() for timer in loop._scheduled if not timer.cancelled()]
    return min((when_s for when_s in due if when_s <= limit_s), default=None)


def _has_working_thread(loop: Any) -> bool:
    if any(thread.name == "import" for thread in threading.enumerate()):
        # The first prompt of a process waits for imports.
        return True
    executor = loop._default_executor
    if not isinstance(executor, ThreadPoolExecutor):
        return False
    idle: Any = executor._idle_semaphore
    return not executor._work_queue.empty() or idle._value < len(executor._threads)


@pytest.fixture(scope="session", autouse=True)
def screens_wait_for_the_loop() -> None:
    """Replace the wait in Textual's modules, which imported it by name."""
    for module in (textual.app, textual.pilot):
        module.wait_for_idle = wait_for_idle  # type: ignore[attr-defined]
    Pilot._wait_for_screen = _wait_for_screen  # type: ignore[assignment,method-assign]
