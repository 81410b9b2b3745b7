"""However a command inside the sandbox, or the program itself, is ended: nothing is left of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from agent.sandbox.probe import probe
from benchmarks.program import Program
from permissions.confinement import SandboxLevel
from tests.terminal.conftest import Screen, ThreadedServer, shows

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(
        probe().level is not SandboxLevel.FULL, reason=f"level {probe().level}: {probe().reason}"
    ),
]
Serve = Callable[[Scenario], ThreadedServer]
# A server, a process of its own session, and one that does not end by TERM.
SCRIPT = """
trap '' TERM
python3 -m http.server --bind 127.0.0.1 8765 >/dev/null 2>&1 &
setsid sh -c 'trap "" TERM; exec sleep 1000' &
until curl -s --noproxy '*' -o /dev/null http://127.0.0.1:8765/; do :; done
readlink /proc/self/ns/net > namespace
cat fifo
"""
FOUND = {"greet.py", "fifo", "run.sh", "namespace"}


Start = Callable[..., Program]


@pytest.fixture
def begin(screen: Screen, serve: Serve, project: Path, fresh_home: Path) -> Start:
    """Start the program with a command that runs inside."""
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    file = fresh_home / ".agent" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"sandbox": {"enabled": True}}))
    (project / "run.sh").write_text(SCRIPT)
    os.mkfifo(project / "fifo")

    def start(**more: object) -> Program:
        call = ToolCall("Bash", {"command": "sh run.sh", **more})
        turns = (Turn((call,)), Turn((Text("It is over."),), times=0))
        return screen("go", server=serve(Scenario(turns=turns)))

    return start


@pytest.fixture
def running(begin: Start, project: Path) -> Iterator[Program]:
    """The program, once all of the command runs."""
    program = begin()
    # Opens once the command waits for what is written; it never comes.
    with (project / "fifo").open("wb"):
        assert _inside(project)
        assert _mounted(project)
        assert {".agent", ".claude", ".vscode"} <= set(os.listdir(project))
        yield program


def test_an_interrupt_leaves_nothing(running: Program, project: Path) -> None:
    running.wait_until(shows("run.sh"))
    running.type(b"\x1b")
    _until_nothing_is_left(project)
    assert running.exit_status is None


def test_a_time_out_leaves_nothing(begin: Start, project: Path) -> None:
    program = begin(timeout=2000)
    assert program.wait_until(shows("It is over."), timeout_s=60), program.emulator.text()
    _until_nothing_is_left(project)


def test_a_kill_leaves_nothing(running: Program, project: Path) -> None:
    namespace = (project / "namespace").read_text().strip()
    os.kill(running.pid, signal.SIGKILL)
    _until_nothing_is_left(project)
    assert namespace not in _namespaces().values()


def _until_nothing_is_left(project: Path) -> None:
    """Return once that is so; pytest ends this if it never comes true."""
    while _inside(project) or _mounted(project) or not set(os.listdir(project)) <= FOUND:
        os.sched_yield()


def _namespaces() -> dict[str, str]:
    """The network namespaces of all processes."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found[pid] = os.readlink(f"/proc/{pid}/ns/net")
    return found


def _inside(project: Path) -> list[str]:
    """The processes in the network namespace that the command wrote down."""
    file = project / "namespace"
    namespace = file.read_text().strip() if file.exists() else None
    return [pid for pid, one in _namespaces().items() if one == namespace]


def _mounted(project: Path) -> list[str]:
    """The processes that see a mount in the project."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if f" {project}" in Path(f"/proc/{pid}/mountinfo").read_text():
                found.append(pid)
    return found
