"""The `@` picker: never a long wait, and always the files of the conversation at hand."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from agent.files.index import FileIndex
from agent.files.matcher import NameList
from tui.file_picker import FilePicker


class Desk:
    """A picker with its frames and work under control."""

    def __init__(self, index: FileIndex) -> None:
        self.index = index
        self.frames: list[Callable[[], None]] = []
        self.work: list[asyncio.Future[None]] = []
        self.told = 0
        self.picker = FilePicker(
            lambda: self.index,
            lambda work: self.work.append(asyncio.ensure_future(work)),
            self.frames.append,
            self.tell,
        )

    def tell(self) -> None:
        self.told += 1

    async def ready(self) -> None:
        await asyncio.gather(*self.work)


async def test_files_are_offered_once_they_are_listed(tmp_path: Path) -> None:
    (tmp_path / "slug.py").write_text("")
    desk = Desk(FileIndex(tmp_path, os.environ))
    assert desk.picker.look("slu") == []
    await desk.ready()
    assert desk.told == 1
    assert desk.picker.look("slu") == ["slug.py"]
    await desk.picker.aclose()


async def test_another_conversation_has_other_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.py").write_text("")
    desk = Desk(FileIndex(tmp_path / "a", os.environ))
    desk.picker.look("py")
    await desk.ready()
    await desk.picker.aclose()
    desk.index = FileIndex(tmp_path / "b", os.environ)
    desk.picker.look("py")
    await desk.ready()
    assert desk.picker.look("py") == ["b.py"]
    await desk.picker.aclose()


async def test_a_long_search_goes_on_frame_by_frame(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    index = FileIndex(tmp_path, os.environ)
    desk = Desk(index)
    desk.picker.look("")
    await desk.ready()
    index._names = NameList(f"folder{n % 99}/sub{n}/file{n}.py" for n in range(60_000))
    assert desk.picker.look("zzq") == []
    frames = 0
    while desk.frames and frames < 1_000:
        desk.frames.pop()()
        frames += 1
    assert desk.picker.look("zzq") == []
    assert not desk.frames
    await desk.picker.aclose()
