"""A program that is killed leaves no command behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.tools.shell.shell_process import sweep_private

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from agent.tools.shell.shell_output import ShellOutput
from agent.tools.shell.shell_process import ShellProcess
from permissions.base.process import guardian

async def main():
    folder = Path(sys.argv[1])
    async def start(command):
        return await ShellProcess.start(
            "bash", command, cwd=folder, env={"PATH": os.environ["PATH"]},
            output=ShellOutput(folder / "out"), private_dir=folder,
        )
    for _ in range(3):
        await (await start("true")).wait()
    await start(sys.argv[2])
    if "orphan" in sys.argv:
        # Somebody ends the guardian; the one that the next command gets knows of both.
        os.kill(guardian._State.pid, 9)
        os.waitid(os.P_PID, guardian._State.pid, os.WEXITED | os.WNOWAIT)
        await (await start("true")).wait()
        try:
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                os._exit(1)
        except ChildProcessError:
            pass
    print("ready", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "command",
    ["sleep 300 >fifo", "trap '' TERM; exec >fifo; sleep 300; sleep 301", "setsid sleep 300 >fifo"],
    ids=["plain", "stubborn", "away"],
)
def test_a_kill_ends_what_ran(command: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    program = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path), command], cwd=ROOT)
    # Open on both sides once the command runs; at its end when nobody holds the other any more.
    with (tmp_path / "fifo").open("rb") as held:
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
        assert held.read() == b""


def test_another_guardian_knows_what_the_first_one_knew(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    arguments = [sys.executable, "-c", PROGRAM, str(tmp_path), "sleep 300 >fifo", "orphan"]
    program = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE)
    with (tmp_path / "fifo").open("rb") as held, program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        program.send_signal(signal.SIGKILL)
        assert program.wait() == -signal.SIGKILL
        assert held.read() == b""


def test_who_ends_by_himself_leaves_no_guardian() -> None:
    reading, writing = os.pipe()
    # The guardian inherits the pipe, which comes to its end with it.
    code = (
        "from permissions.base.process.guardian import forget, watch; watch('a=1'); forget('a=1')"
    )
    try:
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, pass_fds=(writing,))
    finally:
        os.close(writing)
    assert done.returncode == 0
    with os.fdopen(reading, "rb") as held:
        assert held.read() == b""


def test_what_a_killed_program_left_beside_its_results_goes(tmp_path: Path) -> None:
    for name, file in (("shell-dead", "prologue"), ("shell-mine", "work"), ("other", "cwd")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    sweep_private(tmp_path)
    sweep_private(tmp_path / "nowhere")
    assert sorted(os.listdir(tmp_path)) == ["other", "shell-mine"]
