"""FileChanged: only the watched names, with real files."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hooks.config.config import HookLayer, build_config
from hooks.config.spec import HookSource
from hooks.config.watched_files import FileWatch, static_names
from hooks.events import FileChanged


def test_the_watch_list_is_the_matcher_split_at_bars() -> None:
    groups = [
        {"matcher": ".envrc|.env", "hooks": [{"type": "command", "command": "true"}]},
        {"matcher": "*", "hooks": [{"type": "command", "command": "true"}]},
    ]
    config = build_config([HookLayer(HookSource.USER, {"hooks": {"FileChanged": groups}})])
    assert static_names(config) == {".env", ".envrc"}


async def test_watched_files_are_reported_and_others_are_not(tmp_path: Path) -> None:
    seen: asyncio.Queue[FileChanged] = asyncio.Queue()
    watch = FileWatch(seen.put)
    running = asyncio.create_task(watch.run())
    watched, other = tmp_path / ".env", tmp_path / "other"
    watch.set_static([".env"], tmp_path)
    toucher = asyncio.create_task(_keep_touching(other, watched))
    first = await seen.get()
    toucher.cancel()
    running.cancel()
    await asyncio.gather(toucher, running, return_exceptions=True)
    assert (first.file_path, first.event) == (str(watched), "add")
    assert all(seen.get_nowait().file_path == str(watched) for _ in range(seen.qsize()))


async def test_a_new_list_replaces_the_old_one(tmp_path: Path) -> None:
    seen: asyncio.Queue[FileChanged] = asyncio.Queue()
    watch = FileWatch(seen.put)
    running = asyncio.create_task(watch.run())
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    watch.set_dynamic(["a/x"], tmp_path)
    await asyncio.sleep(0)
    watch.set_dynamic([str(tmp_path / "b" / "y")], tmp_path)
    toucher = asyncio.create_task(_keep_touching(tmp_path / "a" / "x", tmp_path / "b" / "y"))
    assert (await seen.get()).file_path == str(tmp_path / "b" / "y")
    toucher.cancel()
    running.cancel()
    await asyncio.gather(toucher, running, return_exceptions=True)


async def _keep_touching(*paths: Path) -> None:
    """Change files again and again: a watcher says nothing about when it is ready."""
    while True:
        for path in paths:
            path.write_text("x")
        await asyncio.sleep(0.05)
        for path in paths:
            path.unlink()
        await asyncio.sleep(0.05)
