"""The program in labeled lines, in a real terminal: nothing is drawn, everything can be done."""

from __future__ import annotations

import re
import termios
from pathlib import Path

import pytest

from agent.model.scripted.faults import Position, Stall
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, Turn
from benchmarks.program import Output, Program
from tests.terminal.conftest import Screen, shows
from tests.terminal.test_program import EDIT, Serve

pytestmark = pytest.mark.pty

READY = shows("you:")
CURSOR_MOVES = re.compile(rb"\x1b\[[\d;]*[ABCDHfJsu]|\x1b\[\?1049|\x1b\[\?25")


def written(program: Program) -> bytes:
    return b"".join(event.data for event in program.events if isinstance(event, Output))


def test_from_a_request_to_an_approved_edit(screen: Screen, serve: Serve, project: Path) -> None:
    program = screen("--screen-reader", server=serve(EDIT), size=(200, 60))
    before = termios.tcgetattr(program.terminal)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"fix the typo\r")
    assert program.wait_until(shows("answer:")), program.emulator.text()
    text = program.emulator.text()
    assert "tool: Read greet.py" in text
    assert "Permission required: Make this edit? greet.py" in text
    assert "line 1 added: print('hello')" in text
    assert "1. Yes (selected)" in text
    program.type(b"and the other one\r")
    assert program.wait_until(shows("That is not an answer here.")), program.emulator.text()
    assert (project / "greet.py").read_text() == "print('helo')\n"
    program.type(b"1\r")
    assert program.wait_until(shows("assistant: It says hello now.")), program.emulator.text()
    assert (project / "greet.py").read_text() == "print('hello')\n"
    program.type(b"/status\r")
    assert program.wait_until(shows("notice: agent-tui")), program.emulator.text()
    program.type(b"quit\r")
    assert program.wait_until(lambda _: program.exit_status is not None)
    assert program.exit_status == 0
    assert "Continue with: agent-tui -r" in program.emulator.text()
    assert CURSOR_MOVES.search(written(program)) is None
    assert termios.tcgetattr(program.terminal) == before


def test_ctrl_c_interrupts_then_leaves(screen: Screen, serve: Serve) -> None:
    stalled = FaultPlan(Stall(Position("text"), hold="hold"), request=1)
    server = serve(Scenario(turns=(Turn((Text("Never said."),)),), faults=(stalled,)))
    program = screen("--screen-reader", server=server)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"hello\r")
    server.reached("hold")
    program.type(b"\x03")
    assert program.wait_until(shows("interrupted.")), program.emulator.text()
    # The turn is over once the prompt is back: until then the key would interrupt again.
    assert program.wait_until(lambda _: program.emulator.text().split()[-1] == "you:")
    program.type(b"\x03")
    assert program.wait_until(shows("press ctrl+c again")), program.emulator.text()
    program.type(b"\x03")
    assert program.wait_until(lambda _: program.exit_status is not None)
    assert program.exit_status == 0


def test_a_terminal_that_can_draw_nothing_is_enough(screen: Screen, serve: Serve) -> None:
    server = serve(Scenario(turns=(Turn((Text("Hello there."),), times=0),)))
    program = screen("--screen-reader", "hi", server=server, TERM="dumb")
    assert program.wait_until(shows("assistant: Hello there.")), program.emulator.text()
    # Typed before there is a prompt, it would be dropped with the terminal's old mode.
    assert program.wait_until(shows("you:")), program.emulator.text()
    assert b"\x1b" not in written(program).replace(b"\x1b[?2004h", b"").replace(b"\x1b[?2004l", b"")
    program.type(b"\x04")
    assert program.wait_until(lambda _: program.exit_status is not None)
