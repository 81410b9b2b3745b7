"""Threads for blocking calls, and an exit of the program that does not wait for stuck ones.

A thread in a call to a file system that no longer responds (a lost server, a device) cannot be
ended from inside. At exit everything worth keeping is written, so the process ends without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any, Final

PATIENCE_S: Final = 2.0
"""How long the exit waits for busy threads; enough for a write to a slow disk."""


THREADS: Final = 32
"""More than the default of six on a small machine: a few that hang must not stop the others."""
_PREFIX: Final = "worker"
_IMPORT: Final = "import"
_WATCH: Final = "AnyIO"
"""Name prefix of `anyio`'s threads that watch files: each sleeps for up to a step."""


class Workers(ThreadPoolExecutor):
    """A thread pool whose shutdown waits for a limited time."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; return when all is done, or after `PATIENCE_S`."""
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        if wait:
            _join(list(self._threads))


def run_to_end(main: Coroutine[Any, Any, int]) -> int:
    """Run the program's coroutine like `asyncio.run`, on `Workers`; return its exit status."""

    async def run() -> int:
        asyncio.get_running_loop().set_default_executor(
            Workers(THREADS, thread_name_prefix=_PREFIX)
        )
        return await main

    return asyncio.run(run())


async def import_aside(name: str) -> ModuleType:
    """Import a module in a daemon thread, which the exit need not wait for."""
    loop = asyncio.get_running_loop()
    module_future: asyncio.Future[ModuleType] = loop.create_future()

    def settle(module: ModuleType | None, error: Exception | None) -> None:
        if module_future.done():
            return
        if module is not None:
            module_future.set_result(module)
        elif error is not None:
            module_future.set_exception(error)

    def work() -> None:
        module: ModuleType | None = None
        failure: Exception | None = None
        try:
            module = importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - raised where it is awaited
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, module, failure)

    threading.Thread(target=work, name=_IMPORT, daemon=True).start()
    return await module_future


def leave_stuck_threads(status: int) -> None:
    """End the process at once with this status if a thread would block the exit; else return.

    Call it last: the interpreter's own shutdown is skipped.
    """
    threads = threading.enumerate()
    stuck = [each for each in threads if each.name.startswith(_PREFIX)]
    # The interpreter's shutdown would wait for threads that import a module or watch files; neither
    # has anything to save.
    blocks_shutdown = any(each.name.startswith((_IMPORT, _WATCH)) for each in threads)
    if not (stuck and _join(stuck)) and not blocks_shutdown:
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def _join(threads: list[threading.Thread]) -> bool:
    """Wait for threads; return whether some still run after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return any(thread.is_alive() for thread in threads)
