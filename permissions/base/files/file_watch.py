"""Watches files whose names may be any bytes; the whole program watches through this module.

On Linux (inotify) nothing wakes until something changes. Elsewhere the library `watchfiles` polls;
it fails at the first name that is not UTF-8, which is reported here as an unknown change.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from permissions.base.files.inotify import Change, Changes

PAUSE_S: Final = 1.0
"""Pause before watching again after a name that is not UTF-8: such names rarely come alone."""
_READ_AT_ONCE: Final = 32
"""Directories that are read before the event loop may handle other events."""

_KINDS: Final[Mapping[int, Change]] = {1: "added", 2: "modified", 3: "deleted"}
"""Kinds of changes by the library's numbers."""

WatchFilter = Callable[["Change", str], bool]


async def file_changes(
    *paths: Path,
    watch_filter: WatchFilter | None,
    stop: asyncio.Event,
    collect_ms: int,
    recursive: bool,
    excluded_names: Collection[str] = (),
) -> AsyncIterator[Changes | None]:
    """Yield sets of changes until `stop` is set; None means that some changes are unknown.

    Args:
        watch_filter: returns whether a change is yielded.
        collect_ms: how long further changes are collected after the first.
        excluded_names: names of directories whose contents are not watched.

    Raises:
        OSError: the directories cannot be watched.
    """
    watch = notified_changes if sys.platform == "linux" else polled_changes
    async for changes in watch(paths, stop, collect_ms, recursive, excluded_names):
        if changes is not None and watch_filter is not None:
            changes = {each for each in changes if watch_filter(*each)}
        if changes is None or changes:
            yield changes


async def notified_changes(
    paths: Collection[Path],
    stop: asyncio.Event,
    collect_ms: int,
    recursive: bool,
    excluded_names: Collection[str],
) -> AsyncIterator[Changes | None]:
    """Yield the changes that inotify reports."""
    # Imported late: nothing is watched before the first frame.
    from permissions.base.files.inotify import DirectoryNotices

    async def read_below() -> Changes:
        additions: Changes = set()
        while notices.has_unread:
            for _ in range(_READ_AT_ONCE):
                if notices.has_unread:
                    additions |= notices.read_below()
            await asyncio.sleep(0)
        return additions

    loop = asyncio.get_running_loop()
    notices = DirectoryNotices(recursive=recursive, excluded_names=excluded_names)
    ready = asyncio.Event()
    stop_task = asyncio.ensure_future(stop.wait())
    stop_task.add_done_callback(lambda _: ready.set())

    def wake() -> None:
        loop.remove_reader(notices.descriptor)
        ready.set()

    try:
        for path in paths:
            notices.add(str(path))
        await read_below()
        while True:
            loop.add_reader(notices.descriptor, wake)
            await ready.wait()
            await asyncio.wait({stop_task}, timeout=collect_ms / 1000)
            if stop.is_set():
                return
            ready.clear()
            changes = notices.read()
            additions = await read_below()
            yield changes if changes is None else changes | additions
    finally:
        loop.remove_reader(notices.descriptor)
        stop_task.cancel()
        # In a thread: it takes the kernel some 20 ms.
        threading.Thread(target=notices.close, daemon=True).start()


async def polled_changes(
    paths: Collection[Path],
    stop: asyncio.Event,
    collect_ms: int,
    recursive: bool,
    excluded_names: Collection[str],
    *,
    pause_s: float = PAUSE_S,
) -> AsyncIterator[Changes | None]:
    """Yield the changes that the library reports, which polls every `collect_ms`."""
    from watchfiles import awatch

    while not stop.is_set():
        try:
            async for changes in awatch(
                *paths,
                watch_filter=None,
                stop_event=stop,
                debounce=collect_ms,
                step=collect_ms,
                # By default the library wakes the event loop every five seconds.
                rust_timeout=0,
                recursive=recursive,
                ignore_permission_denied=True,
            ):
                yield {
                    (_KINDS[change], path)
                    for change, path in changes
                    if not any(name in excluded_names for name in Path(path).parts)
                }
            return
        except ExceptionGroup as group:
            if not _is_about_a_name(group):
                if group.split((OSError, RuntimeError))[1] is not None:
                    raise
                raise OSError(str(group.exceptions[0])) from group
        except RuntimeError as error:
            # The library raises its own error for a system error without a number.
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
