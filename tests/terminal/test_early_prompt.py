"""The prompt that stands before the screen's library is there.

A package named like the library waits at a named pipe, so that the start stops where a test wants
to look; then the real one takes its place.
"""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.model.scripted.scenario import Scenario, Text, Turn
from benchmarks.program import Program
from benchmarks.terminal import Emulator
from tests.journeys.program import ROOT
from tests.terminal.conftest import Screen, ThreadedServer, shows

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]
Held = Callable[..., Program]

ANSWERS = Scenario(turns=(Turn((Text("Hello there."),), times=0),))
READY = shows("manual mode on")
EARLY = shows("❯")

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
        *arguments: str, library: str = WAITING, knows_model: bool = True, **env: str
    ) -> Program:
        package = tmp_path / "held" / "textual"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(library)
        path = f"{package.parent}{os.pathsep}{ROOT}"
        env = {"PYTHONPATH": path, "HELD_AT": str(gate), **env}
        return screen(*arguments, server=serve(ANSWERS) if knows_model else None, **env)

    return start


def release(gate: Path) -> None:
    gate.write_bytes(b"")


def cursor_of(emulator: Emulator) -> tuple[int, int]:
    return emulator.cursor.y, emulator.cursor.x


def settings_of(program: Program) -> list[object]:
    return termios.tcgetattr(program.terminal)


def test_what_is_typed_shows_before_the_screen_and_stays_in_its_place(
    held: Held, gate: Path
) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"fix it")
    assert program.wait_until(shows("❯ fix it")), program.emulator.text()
    before = program.emulator.text().splitlines()
    row = next(number for number, line in enumerate(before) if "fix it" in line)
    assert cursor_of(program.emulator) == (row, len(" ❯ fix it"))
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    after = program.emulator.text().splitlines()
    assert after[row - 1 : row + 2] == before[row - 1 : row + 2]
    assert program.wait_until(lambda emulator: cursor_of(emulator) == (row, len(" ❯ fix it")))
    program.type(b"\r")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("naïve 漢字 ❤️".encode(), "naïve 漢字"),
        (b"acb\x7f\x7fbc", "❯ abc"),
        (b"ac\x1b[Db", "❯ abc"),
        (b"\x1b[200~one\ntwo\x1b[201~", "two"),
        (b"x" * 300, "x" * 90),
    ],
    ids=["wide", "rubbed out", "arrow", "paste", "longer than the window"],
)
def test_every_key_means_what_it_would_have_meant(
    held: Held, gate: Path, typed: bytes, shown: str
) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(typed)
    program.listen(0.1)
    release(gate)
    assert program.wait_until(shows(shown)), program.emulator.text()
    assert "Hello there." not in program.emulator.text()


def test_a_request_sent_early_is_answered(held: Held, gate: Path) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"hi\r")
    release(gate)
    assert program.wait_until(shows("Hello there.")), program.emulator.text()


def test_a_conversation_that_is_continued_begins_the_same_way(held: Held, gate: Path) -> None:
    program = held("-c")
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"go on")
    assert program.wait_until(shows("❯ go on")), program.emulator.text()
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    assert "❯ go on" in program.emulator.text()


def test_ctrl_c_gives_the_terminal_back(held: Held) -> None:
    program = held()
    before = settings_of(program)
    assert program.wait_until(EARLY), program.emulator.text()
    assert settings_of(program) != before
    program.type(b"some words\x03")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 130
    assert program.emulator.text().strip() == ""
    assert not program.emulator.is_alternate
    assert settings_of(program) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(held: Held, number: signal.Signals) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    os.kill(program.pid, number)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == -number
    assert not program.emulator.is_alternate


def test_a_start_that_fails_says_so_on_the_terminal_as_it_was(held: Held) -> None:
    program = held(library="raise RuntimeError('no such library')")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 1
    assert "no such library" in program.emulator.text()
    assert not program.emulator.is_alternate


def test_after_the_end_the_terminal_is_as_it_was(held: Held, gate: Path) -> None:
    program = held()
    before = settings_of(program)
    assert program.wait_until(EARLY), program.emulator.text()
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    assert settings_of(program) != before
    program.type(b"\x04")
    program.listen(0.2)
    program.type(b"\x04")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 0
    assert not program.emulator.is_alternate
    assert settings_of(program) == before


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("say hello",), {}),
        ((), {"AGENT_TUI_SCREEN_READER": "0"}),
        ((), {"knows_model": False}),
    ],
    ids=["a prompt is given", "lines may be wanted", "nothing is known of a model"],
)
def test_where_something_else_may_come_first_nothing_is_shown(
    held: Held, gate: Path, arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    program = held(*arguments, **options)
    # Opens once the program waits at the other end.
    with gate.open("wb"):
        program.listen(0)
        assert program.happenings == []
    assert program.wait_until(shows("agent-tui")), program.emulator.text()
