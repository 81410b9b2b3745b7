"""The program in a pseudo-terminal with an emulator, a project folder and a scripted model."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

import pytest

from agent.model.scripted.scenario import Scenario
from agent.model.scripted.server import ScriptedServer
from benchmarks.program import Output, Program
from benchmarks.terminal import Emulator
from tests.journeys.program import environment

T = TypeVar("T")


class ThreadedServer:
    """A scripted server on a loop of its own, so that a test may block on the terminal."""

    def __init__(self, scenario: Scenario) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.server = ScriptedServer(scenario)
        self.base_url = self._call(self.server.start())

    def _call(self, work: Coroutine[object, object, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def reached(self, hold: str) -> None:
        """Return once an answer waits at the stall with this name."""
        self._call(self.server.reached(hold))

    def release(self, hold: str) -> None:
        """Let the answer at the stall go on."""
        self._loop.call_soon_threadsafe(self.server.release, hold)

    def close(self) -> None:
        """End the server and its loop."""
        self._call(self.server.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


Screen = Callable[..., Program]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    directory.mkdir()
    (directory / "greet.py").write_text("print('helo')\n")
    return directory


@pytest.fixture
def serve() -> Iterator[Callable[[Scenario], ThreadedServer]]:
    """Start scripted servers; they end with the test."""
    with ExitStack() as stack:

        def start(scenario: Scenario) -> ThreadedServer:
            server = ThreadedServer(scenario)
            stack.callback(server.close)
            return server

        yield start


@pytest.fixture
def screen(project: Path, fresh_home: Path) -> Iterator[Screen]:
    """Start the program in a terminal; it is hung up at the end of the test."""
    with ExitStack() as stack:

        def start(
            *arguments: str,
            server: ThreadedServer | None = None,
            size: tuple[int, int] = (100, 32),
            command: Sequence[str] = (sys.executable, "-m", "tui.cli"),
            **env: str,
        ) -> Program:
            url = server.base_url if server is not None else None
            program = Program.spawn(
                [*command, *arguments],
                environment=environment(fresh_home, url, **env),
                directory=project,
                columns=size[0],
                rows=size[1],
            )
            stack.callback(_close, program)
            return program

        yield start


def _close(program: Program) -> None:
    if program.exit_status is None:
        program.close()


def clear_away(program: Program, said: str) -> None:
    """Begin another conversation, where `said` is in this one: also while a prompt just ends."""
    busy = "Press esc to interrupt it"

    def clear() -> None:
        program.type(b"/clear")
        assert program.wait_until(shows("❯ /clear")), program.emulator.text()
        program.type(b"\r")

    clear()
    program.wait_until(lambda e: said not in e.text() or busy in e.text())
    if busy in program.emulator.text():
        program.wait_for_quiet(1.0)
        clear()
    assert program.wait_until(lambda e: said not in e.text()), program.emulator.text()


def shows(text: str) -> Callable[[Emulator], bool]:
    """A condition: the screen shows the text."""
    return lambda emulator: text in emulator.text()


def written(program: Program) -> bytes:
    """Return all that the program wrote so far."""
    return b"".join(each.data for each in program.happenings if isinstance(each, Output))
