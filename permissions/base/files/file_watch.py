"""Watching files where names may be any bytes: the one way in which this program watches.

The library gives up at the first name that is not UTF-8; here that is a change like another.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from watchfiles import Change

    Changes = set[tuple[Change, str]]

PAUSE_S: Final = 1.0
"""Before watching again after a name that is not text: such names rarely come alone."""


async def file_changes(
    *paths: Path,
    watch_filter: Callable[[Change, str], bool] | None,
    stop: asyncio.Event,
    debounce_ms: int,
    step_ms: int,
    recursive: bool,
    pause_s: float = PAUSE_S,
) -> AsyncIterator[Changes | None]:
    """Yield what changed until `stop` is set; None: something did that cannot be named.

    Raises:
        OSError: the directories cannot be watched.
    """
    # Costs a native library; nothing is watched before the first frame.
    from watchfiles import awatch

    while not stop.is_set():
        try:
            async for changes in awatch(
                *paths,
                watch_filter=watch_filter,
                stop_event=stop,
                debounce=debounce_ms,
                step=step_ms,
                # By default the library wakes the event loop every five seconds.
                rust_timeout=0,
                recursive=recursive,
                ignore_permission_denied=True,
            ):
                yield changes
            return
        except ExceptionGroup as group:
            if not _is_about_a_name(group):
                if group.split((OSError, RuntimeError))[1] is not None:
                    raise
                raise OSError(str(group.exceptions[0])) from group
        except RuntimeError as error:
            # What the system refuses is an error of the library's own where it has no number.
            raise OSError(str(error)) from error
        yield None
        try:
            async with asyncio.timeout(pause_s):
                await stop.wait()
        except TimeoutError:
            pass


def _is_about_a_name(group: ExceptionGroup[Exception]) -> bool:
    # The library's own class for it is private; it is a RuntimeError.
    runtime_errors, others = group.split(RuntimeError)
    return (
        runtime_errors is not None
        and others is None
        and "decode path" in str(runtime_errors.exceptions[0])
    )
