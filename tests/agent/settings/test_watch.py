"""Settings follow their files; a broken file changes nothing."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agent.settings.load import Settings, load_settings
from agent.settings.watch import Reloaded, ReloadFailed, reload, watch_settings


def world(tmp_path: Path) -> Path:
    root = Path(os.path.realpath(tmp_path))
    (root / "home" / ".agent").mkdir(parents=True)
    (root / "project").mkdir()
    return root


def load(root: Path) -> Settings:
    return load_settings(
        launch_dir=root / "project",
        home=root / "home",
        agent_home=root / "home" / ".agent",
        policy_dir=root / "etc",
    )


def test_a_broken_file_keeps_the_last_good_settings(tmp_path: Path) -> None:
    root = world(tmp_path)
    path = root / "home" / ".agent" / "settings.json"
    path.write_text('{"theme": "dark"}')
    current = load(root)
    path.write_text('{"theme": ')
    change = reload(current, lambda: load(root), [path])
    assert isinstance(change, ReloadFailed)
    assert change.current is current
    assert change.problem.startswith(f"{path}:1: not valid JSON")
    assert "until it is fixed" not in change.problem
    path.write_text('{"theme": "light"}')
    change = reload(current, lambda: load(root), [path])
    assert isinstance(change, Reloaded)
    assert change.current.values.theme == "light"


def test_a_managed_file_that_turns_bad_keeps_the_last_good_settings(tmp_path: Path) -> None:
    root = world(tmp_path)
    current = load(root)
    (root / "etc").mkdir()
    (root / "etc" / "managed-settings.json").write_text("{")
    change = reload(current, lambda: load(root), [])
    assert isinstance(change, ReloadFailed)
    assert "managed settings" in change.problem


async def test_a_change_is_noticed_also_in_a_directory_that_was_not_there(tmp_path: Path) -> None:
    root = world(tmp_path)
    stop = asyncio.Event()
    changes = watch_settings(load(root), lambda: load(root), stop, collect_ms=50)
    own = root / "home" / ".agent" / "settings.json"

    async def keep_writing(path: Path, text: str) -> None:
        # The watcher starts in its own time: write until it has seen one.
        while True:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            await asyncio.sleep(0.2)

    for path, text in (
        (own, '{"theme": "dark"}'),
        (root / "project" / ".agent" / "settings.json", '{"theme": "light"}'),
    ):
        writer = asyncio.create_task(keep_writing(path, text))
        try:
            async with asyncio.timeout(20):
                async for change in changes:
                    if path in change.files:
                        break
        finally:
            writer.cancel()
        assert isinstance(change, Reloaded)
    assert change.current.values.theme == "light"
    stop.set()
    await changes.aclose()


async def test_a_name_that_is_no_text_is_no_change_and_hides_none(tmp_path: Path) -> None:
    root = world(tmp_path)
    stop = asyncio.Event()
    changes = watch_settings(load(root), lambda: load(root), stop, collect_ms=50)
    own = root / "home" / ".agent" / "settings.json"
    odd = Path(os.fsdecode(os.fsencode(root / "project") + b"/caf\xe9"))

    async def keep_writing() -> None:
        for number in range(1_000):
            odd.write_text(str(number))
            if number > 10:
                own.write_text('{"theme": "dark"}')
            await asyncio.sleep(0.1)

    writer = asyncio.create_task(keep_writing())
    async with asyncio.timeout(30):
        change = await anext(changes)
    writer.cancel()
    assert isinstance(change, Reloaded)
    assert change.current.values.theme == "dark"
    stop.set()
    await changes.aclose()
