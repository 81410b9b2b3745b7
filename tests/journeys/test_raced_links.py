"""Links that change under a call: it fails or does what was decided, and the run continues."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Text, ToolCall, Turn
from permissions.base.process.child_process import ChildProcess
from permissions.base.process.spawn import Launch
from tests.journeys.conftest import Begin, results, terminal

CALLS = 10
TURNS = 12

FLIP = """
import contextlib, os, sys
target, name = sys.argv[1:]
def do(call, *arguments):
    with contextlib.suppress(OSError):
        call(*arguments)
while True:
"""
FILE_OR_LINK = (
    FLIP
    + """
    do(os.symlink, target, name + ".link")
    do(os.replace, name + ".link", name)
    do(os.mknod, name + ".file")
    do(os.replace, name + ".file", name)
"""
)
DIRECTORY_OR_LINK = (
    FLIP
    + """
    do(os.rename, name, name + ".dir")
    do(os.symlink, target, name)
    do(os.unlink, name)
    do(os.rename, name + ".dir", name)
"""
)


@asynccontextmanager
async def flipping(program: str, target: Path, name: Path) -> AsyncIterator[None]:
    """Change `name` all the time, between what it is and a link to `target`."""
    launch = Launch((sys.executable, "-c", program, str(target), str(name)), dict(os.environ))
    child = await ChildProcess.start(launch, stdout=-3, stderr=-3)
    try:
        yield
    finally:
        await child.end(0)
        child.release()


def turns(call: Callable[[int], ToolCall]) -> list[Turn]:
    numbers = iter(range(CALLS * TURNS))
    calls = [Turn(tuple(call(next(numbers)) for _ in range(CALLS))) for _ in range(TURNS)]
    return [*calls, Turn((Text("done"),))]


@pytest.mark.parametrize("tool", ["Read", "Write"])
async def test_f14_a_file_that_becomes_a_link_ends_no_run(
    begin: Begin, tmp_path: Path, tool: str
) -> None:
    content = {"content": "x"} if tool == "Write" else {}
    path = str(tmp_path / "a project" / "raced")
    journey = await begin(turns(lambda _: ToolCall(tool, {"file_path": path, **content})))
    outside = tmp_path / "outside"
    outside.write_text("SECRET")
    (journey.project / "raced").write_text("")
    async with flipping(FILE_OR_LINK, outside, journey.project / "raced"):
        events = await journey.send("go")
    assert terminal(events).reason == "completed"
    assert len(results(events)) == CALLS * TURNS
    assert outside.read_text() == "SECRET"


@pytest.mark.parametrize("tool", ["Read", "Write"])
async def test_f14_a_directory_that_becomes_a_link_leads_no_call_outside(
    begin: Begin, tmp_path: Path, tool: str
) -> None:
    def call(number: int) -> ToolCall:
        name = "file" if tool == "Read" else f"new {number}"
        path = str(tmp_path / "a project" / "raced" / name)
        return ToolCall(tool, {"file_path": path, **({"content": "x"} if tool == "Write" else {})})

    # Reads outside are asked about: nobody says yes here.
    journey = await begin(turns(call), has_person=False, permission_mode="acceptEdits")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("SECRET")
    (journey.project / "raced").mkdir()
    (journey.project / "raced" / "file").write_text("harmless")
    async with flipping(DIRECTORY_OR_LINK, outside, journey.project / "raced"):
        events = await journey.send("go")
    assert terminal(events).reason == "completed"
    assert not [result for result in results(events) if "SECRET" in result.text]
    assert os.listdir(outside) == ["file"]
