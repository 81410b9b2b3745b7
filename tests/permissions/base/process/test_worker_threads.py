"""The process ends although a thread of its own never will."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from permissions.base.process.worker_threads import leave_stuck_threads, run_to_end

ROOT = Path(__file__).parents[4]
STUCK = """
import asyncio, os, sys
from permissions.base.process import worker_threads as workers
workers.PATIENCE_S = 0.1
async def main():
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    def hang():
        loop.call_soon_threadsafe(started.set)
        os.read({pipe}, 1)  # as a file system that is gone
    loop.run_in_executor(None, hang)
    await started.wait()
    print("said")
    return 7
status = workers.run_to_end(main())
workers.leave_stuck_threads(status)
sys.exit(1)
"""


def test_a_thread_that_hangs_does_not_keep_the_process() -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", STUCK.format(pipe=reading)],
            cwd=ROOT, pass_fds=(reading,), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (7, "said\n"), done.stderr


IMPORTING = """
import asyncio, sys, threading
from permissions.base.process import worker_threads as workers
workers.PATIENCE_S = 1000
async def main():
    sys.path.insert(0, {directory!r})
    task = asyncio.create_task(workers.import_aside("endless"))
    while "endless" not in sys.modules:
        await asyncio.sleep(0)
    task.cancel()
    module = await workers.import_aside("colorsys")
    print(module.__name__)
    try:
        await workers.import_aside("there_is_none")
    except ModuleNotFoundError as error:
        print(error.name)
    return 7
status = workers.run_to_end(main())
workers.leave_stuck_threads(status)
sys.exit(1)
"""


def test_an_import_under_way_does_not_keep_the_process(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import threading\nthreading.Event().wait()\n")
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING.format(directory=str(tmp_path))],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (7, "colorsys\nthere_is_none\n"), done.stderr


WATCHING = """
import anyio, asyncio, os, sys
from permissions.base.process import worker_threads as workers
workers.PATIENCE_S = 1000
async def main():
    started = asyncio.Event()
    loop = asyncio.get_running_loop()
    def watch():
        loop.call_soon_threadsafe(started.set)
        os.read({pipe}, 1)
    task = asyncio.create_task(anyio.to_thread.run_sync(watch, abandon_on_cancel=True))
    await started.wait()
    return 7
status = workers.run_to_end(main())
workers.leave_stuck_threads(status)
sys.exit(1)
"""


def test_a_thread_that_watches_files_does_not_keep_the_process() -> None:
    reading, writing = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-c", WATCHING.format(pipe=reading)],
            cwd=ROOT, pass_fds=(reading,), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 7, done.stderr


def test_work_under_way_is_done_before_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> int:
        work = asyncio.get_running_loop().run_in_executor(None, print, "written")
        work.add_done_callback(lambda _: None)  # nobody waits for it
        return 3

    assert run_to_end(main()) == 3
    leave_stuck_threads(0)
    assert capsys.readouterr().out == "written\n"
