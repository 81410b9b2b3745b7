"""Watching goes on whatever names turn up."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from pathlib import Path

import pytest

from permissions.base.files.file_watch import file_changes


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take no such names")
async def test_a_name_that_is_no_text_is_a_change_like_another(tmp_path: Path) -> None:
    stop = asyncio.Event()
    found = file_changes(
        tmp_path,
        watch_filter=None,
        stop=stop,
        debounce_ms=50,
        step_ms=10,
        recursive=False,
        pause_s=0.0,
    )

    async def touch(name: bytes) -> None:
        while not stop.is_set():
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
            # Watching begins at some moment after the generator was asked.
            await asyncio.sleep(0.02)

    async with asyncio.timeout(20):
        toucher = asyncio.create_task(touch(b"caf\xe9"))
        async for changes in found:
            if changes is None:
                break
        toucher.cancel()
        toucher = asyncio.create_task(touch(b"plain.txt"))
        async for changes in found:
            if changes is not None and any(path.endswith("plain.txt") for _, path in changes):
                break
        toucher.cancel()
        stop.set()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems watch without a file")
async def test_a_system_that_allows_no_watching_is_an_os_error(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")  # imported while files can still be opened
    found = file_changes(
        tmp_path,
        watch_filter=None,
        stop=asyncio.Event(),
        debounce_ms=50,
        step_ms=10,
        recursive=False,
    )
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    next_free = os.dup(2)
    os.close(next_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            async with asyncio.timeout(20):
                await anext(aiter(found))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
