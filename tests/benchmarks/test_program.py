"""A program is driven through a real pseudo-terminal, and nothing that it wrote is missed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.program import Output, Program, ProgramEndedError, Step

pytestmark = pytest.mark.pty


def _spawn(script: str, directory: Path) -> Program:
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}
    return Program.spawn(
        ["sh", "-c", script], environment=environment, directory=directory, columns=40, rows=5
    )


def test_keys_arrive_in_order_and_their_times_come_back(tmp_path: Path) -> None:
    program = _spawn("stty raw -echo; printf ready; exec cat", tmp_path)
    assert program.wait_until(lambda screen: "ready" in screen.text())
    typed_s = program.play([Step(0.01, keys=b"a"), Step(0.02, keys=b"b")])
    assert program.wait_until(lambda screen: "readyab" in screen.text())
    assert len(typed_s) == 2
    assert typed_s[0] < typed_s[1]
    program.close()


def test_the_program_is_informed_of_a_new_size(tmp_path: Path) -> None:
    program = _spawn("trap 'stty size' WINCH; echo ready; while :; do read -r x; done", tmp_path)
    assert program.wait_until(lambda screen: "ready" in screen.text())
    program.resize(60, 9)
    assert program.wait_until(lambda screen: "9 60" in screen.text())
    assert (program.emulator.columns, program.emulator.lines) == (60, 9)
    program.close()


def test_output_is_noted_with_times_that_never_go_back(tmp_path: Path) -> None:
    program = _spawn("for x in 1 2 3; do echo $x; done", tmp_path)
    assert program.wait_until(lambda screen: "3" in screen.text())
    times = [event.at_s for event in program.events if isinstance(event, Output)]
    assert times == sorted(times)
    assert times[0] >= program.started_s
    program.wait_until(lambda _: program.exit_status is not None)
    assert program.exit_status == 0
    program.close()


def test_a_program_that_ended_is_not_measured(tmp_path: Path) -> None:
    program = _spawn("echo last words; exit 3", tmp_path)
    program.wait_until(lambda _: program.exit_status is not None)
    with pytest.raises(ProgramEndedError, match=r"status 3(.|\n)*last words"):
        program.cpu_s()
    program.close()
