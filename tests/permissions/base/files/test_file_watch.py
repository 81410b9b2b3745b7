"""What a watch reports, and that nothing wakes while nothing changes."""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from permissions.base.files.file_watch import file_changes, notified_changes, polled_changes
from permissions.base.files.inotify import Changes, DirectoryNotices

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no inotify")


def everything_below(*paths: Path, stop: asyncio.Event) -> AsyncIterator[Changes | None]:
    return file_changes(*paths, watch_filter=None, stop=stop, collect_ms=10, recursive=True)


async def reported(
    changes: AsyncIterator[Changes | None], wanted: Path | None, act: Callable[[], object]
) -> None:
    """Act again and again until a path, or a change without a name, is reported.

    A watch begins in its own time.
    """

    async def go_on() -> None:
        while True:
            act()
            await asyncio.sleep(0.02)

    acting = asyncio.create_task(go_on())
    async with asyncio.timeout(20):
        async for found in changes:
            if found is None:
                if wanted is None:
                    break
            elif str(wanted) in {path for _, path in found}:
                break
    acting.cancel()


@pytest.mark.parametrize("watch", [pytest.param(notified_changes, marks=linux), polled_changes])
async def test_what_is_written_below_is_reported_until_the_stop(
    tmp_path: Path, watch: Callable[..., AsyncIterator[Changes | None]]
) -> None:
    (tmp_path / "a").mkdir()
    stop = asyncio.Event()
    changes = watch((tmp_path,), stop, 10, True, ())
    wanted = tmp_path / "a" / "b.txt"
    await reported(changes, wanted, lambda: wanted.write_text("x"))
    stop.set()
    async with asyncio.timeout(20):
        assert [found async for found in changes] == []


async def test_only_what_the_filter_takes_is_yielded(tmp_path: Path) -> None:
    stop = asyncio.Event()
    changes = file_changes(
        tmp_path,
        watch_filter=lambda change, path: change != "deleted" and path.endswith(".md"),
        stop=stop,
        collect_ms=10,
        recursive=False,
    )
    names = (tmp_path / "a.txt", tmp_path / "a.md")

    async def write() -> None:
        while True:
            for name in names:
                name.write_text("")
                name.unlink()
            await asyncio.sleep(0.02)

    writing = asyncio.create_task(write())
    async with asyncio.timeout(20):
        found = await anext(changes)
    writing.cancel()
    stop.set()
    assert found is not None
    assert {path for _, path in found} == {str(names[1])}


async def test_a_name_that_is_no_text_is_a_change_like_another(tmp_path: Path) -> None:
    stop = asyncio.Event()
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    plain = tmp_path / "plain.txt"
    if sys.platform == "linux":
        await reported(everything_below(tmp_path, stop=stop), odd, odd.touch)
    # The library gives up at such a name and is started anew.
    changes = polled_changes((tmp_path,), stop, 10, False, (), pause_s=0.0)
    await reported(changes, None, lambda: odd.write_text("x"))
    await reported(changes, plain, lambda: plain.write_text("x"))
    stop.set()


@linux
async def test_a_system_that_allows_no_watching_is_an_os_error(tmp_path: Path) -> None:
    pytest.importorskip("watchfiles")  # imported while files can still be opened
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for watch in (notified_changes, polled_changes):
        gc.collect()  # later it would close descriptors below the limit
        next_free = os.dup(2)
        os.close(next_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (next_free, limits[1]))
        try:
            with pytest.raises(OSError, match="Too many open files"):
                async with asyncio.timeout(20):
                    await anext(watch((tmp_path,), asyncio.Event(), 10, False, ()))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def watched(*paths: Path, skipped: tuple[str, ...] = ()) -> DirectoryNotices:
    notices = DirectoryNotices(recursive=True, excluded_names=skipped)
    for path in paths:
        notices.add(str(path))
    while notices.has_unread:
        notices.read_below()
    return notices


def changes_of(notices: DirectoryNotices, below: Path) -> set[tuple[str, str]]:
    found = notices.read()
    assert found is not None
    while notices.has_unread:
        found |= notices.read_below()
    return {(change, os.path.relpath(path, below)) for change, path in found}


@linux
def test_the_kernel_names_each_kind_of_change(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    notices = watched(tmp_path)
    file.touch()
    assert changes_of(notices, tmp_path) == {("added", "a.txt"), ("modified", "a.txt")}
    file.write_text("x")
    assert changes_of(notices, tmp_path) == {("modified", "a.txt")}
    file.rename(tmp_path / "b.txt")
    assert changes_of(notices, tmp_path) == {("deleted", "a.txt"), ("added", "b.txt")}
    (tmp_path / "b.txt").unlink()
    assert changes_of(notices, tmp_path) == {("deleted", "b.txt")}
    assert changes_of(notices, tmp_path) == set()
    notices.close()


@linux
def test_what_a_new_directory_contains_already_is_reported(tmp_path: Path) -> None:
    notices = watched(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.txt").touch()
    assert changes_of(notices, tmp_path) >= {
        ("added", "a"),
        ("added", "a/b"),
        ("added", "a/b/c.txt"),
    }
    (tmp_path / "a" / "b" / "d.txt").touch()
    assert ("added", "a/b/d.txt") in changes_of(notices, tmp_path)
    notices.close()


@linux
def test_a_directory_that_moves_has_its_new_name(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    notices = watched(tmp_path)
    (tmp_path / "a").rename(tmp_path / "z")
    changes_of(notices, tmp_path)
    (tmp_path / "z" / "b" / "new").touch()
    assert changes_of(notices, tmp_path) == {("added", "z/b/new"), ("modified", "z/b/new")}
    (tmp_path / "z").rename(tmp_path.parent / f"{tmp_path.name}-outside")
    changes_of(notices, tmp_path)
    (tmp_path.parent / f"{tmp_path.name}-outside" / "b" / "newer").touch()
    assert changes_of(notices, tmp_path) == set()
    notices.close()


@linux
def test_a_directory_that_goes_and_comes_back_under_its_name_is_watched(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    notices = watched(tmp_path)
    (tmp_path / "a").rmdir()
    (tmp_path / "a").mkdir()
    changes_of(notices, tmp_path)
    (tmp_path / "a" / "new").touch()
    assert ("added", "a/new") in changes_of(notices, tmp_path)
    notices.close()


@linux
def test_a_directory_with_two_names_is_reported_by_both(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)
    notices = watched(real, link)
    (real / "a").touch()
    assert {path for _, path in changes_of(notices, tmp_path)} == {"real/a", "link/a"}
    notices.close()


@linux
def test_nothing_is_watched_in_skipped_directories_and_behind_links(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for directory in (outside, root / "node_modules" / "x"):
        directory.mkdir(parents=True)
    (root / "link").symlink_to(outside)
    notices = watched(root, skipped=("node_modules",))
    (root / "node_modules" / "x" / "a").touch()
    (outside / "a").touch()
    assert changes_of(notices, tmp_path) == set()
    notices.close()


@linux
async def test_nothing_wakes_while_nothing_changes(tmp_path: Path) -> None:
    threads = threading.active_count()
    stop = asyncio.Event()
    watching = asyncio.ensure_future(anext(everything_below(tmp_path, stop=stop), None))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not watching.done()
    assert threading.active_count() == threads
    assert getattr(asyncio.get_running_loop(), "_scheduled") == []  # no timer  # noqa: B009
    stop.set()
    assert await watching is None
