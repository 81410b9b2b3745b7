"""The list of files: what is in it, and how it follows the disk."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agent.files.file_index import FileIndex
from permissions.base.process.reading_programs import ReadingPrograms, launch_unconfined


async def test_ignored_files_are_left_out_and_odd_names_are_not(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n")
    for name in (
        "src/__pycache__/a.pyc",
        "build/x.o",
        "src/a b.py",
        "src/ü🙂.py",
        "src/a\nb.py",
        ".hidden/c",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py")).touch()
    index = FileIndex(tmp_path, ReadingPrograms(os.environ, tmp_path, launch_unconfined))
    names = (await index.ready()).names
    assert set(names) == {
        ".gitignore", ".hidden/", ".hidden/c", "src/", "src/a b.py", "src/ü🙂.py",
        "src/a\nb.py", "\udcff.py",
    }  # fmt: skip
    found = index.search("a␊b")
    assert found is not None
    assert found.step()
    assert found.matches == ["src/a\nb.py"]
    await index.aclose()


async def test_new_files_appear(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    index = FileIndex(tmp_path, ReadingPrograms(os.environ, tmp_path, launch_unconfined))
    changed = asyncio.Event()
    index.watch(changed.set)
    await index.ready()
    for number in range(100):
        # The watcher needs a moment to stand; until it does, changes go unseen.
        (tmp_path / f"b{number}.py").write_text("")
        try:
            await asyncio.wait_for(changed.wait(), 0.5)
            break
        except TimeoutError:
            continue
    assert index.names is not None
    assert "b0.py" in index.names.names
    await index.aclose()


async def test_a_directory_that_is_gone_gives_an_empty_list(tmp_path: Path) -> None:
    index = FileIndex(tmp_path / "gone", ReadingPrograms(os.environ, tmp_path, launch_unconfined))
    assert (await index.ready()).names == []
    await index.aclose()


async def test_ignored_files_are_listed_where_that_is_wanted(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.log").write_text("")
    index = FileIndex(
        tmp_path,
        ReadingPrograms(os.environ, tmp_path, launch_unconfined),
        respect_ignore_files=False,
    )
    names = (await index.ready()).names
    assert "a.log" in names
    await index.aclose()
