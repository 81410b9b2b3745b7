"""The program in a pseudo-terminal with an emulator, a project folder and a scripted model."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agent.model.scripted.scenario import Scenario, Text, Turn
from agent.model.scripted.server import ScriptedServer
from benchmarks.program import Output, Program
from benchmarks.terminal import Emulator
from tests.journeys.forked_program import ROOT, can_fork
from tests.journeys.program import environment
from tests.terminal.forked_screen import ForkedScreen

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
        self._call(self.server.wait_for_hold(hold))

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
Serve = Callable[[Scenario], ThreadedServer]
Held = Callable[..., Program]

PROGRAM = (sys.executable, "-m", "tui.cli")
HELLO = Scenario(turns=(Turn((Text("Hello there."),), times=0),))


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
    """Start the program in a terminal; it is hung up at the end of the test.

    It is forked where that makes no difference; with a command it has an interpreter of its own.
    """
    with ExitStack() as stack:

        def start(
            *arguments: str,
            server: ThreadedServer | None = None,
            size: tuple[int, int] = (100, 32),
            command: Sequence[str] = (),
            **env: str,
        ) -> Program:
            url = server.base_url if server is not None else None
            variables = environment(fresh_home, url, **env)
            is_forked = not command and can_fork(variables)
            program = (ForkedScreen if is_forked else Program).spawn(
                [*([] if is_forked else command or PROGRAM), *arguments],
                environment=variables,
                directory=project,
                columns=size[0],
                rows=size[1],
            )
            stack.callback(_close, program)
            return program

        yield start


# A package named like the screen's library waits at a named pipe, so that the start stops where a
# test wants to look; then the real one takes its place.
WAITING = """
import importlib, os, sys
with open(os.environ["HELD_AT"], "rb") as gate:
    gate.read()
sys.path.remove(os.path.dirname(os.path.dirname(__file__)))
del sys.modules["textual"]
sys.modules["textual"] = importlib.import_module("textual")
"""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """Return where the start waits for a writer."""
    place = tmp_path / "gate"
    os.mkfifo(place)
    return place


@pytest.fixture
def held(screen: Screen, serve: Serve, tmp_path: Path, gate: Path) -> Held:
    """Start the program and let it stop where it would import the screen's library."""

    def start(
        *arguments: str,
        library: str = WAITING,
        knows_model: bool = True,
        server: ThreadedServer | None = None,
        **options: Any,
    ) -> Program:
        package = tmp_path / "held" / "textual"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(library)
        path = f"{package.parent}{os.pathsep}{ROOT}"
        options = {"PYTHONPATH": path, "HELD_AT": str(gate), **options}
        if knows_model and server is None:
            server = serve(HELLO)
        return screen(*arguments, server=server, **options)

    return start


def release(gate: Path) -> None:
    """Let the library load; returns once the program has come to it."""
    gate.write_bytes(b"")


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
    return b"".join(each.data for each in program.events if isinstance(each, Output))
