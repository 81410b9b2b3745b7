"""The prompt that stands before the screen's library is there."""

from __future__ import annotations

import os
import signal
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from benchmarks.program import Program
from benchmarks.terminal import Emulator
from tests.terminal.conftest import PROGRAM, Held, release, shows, written

pytestmark = pytest.mark.pty

READY = shows("default mode")
EARLY = shows("❯")
SCREEN = shows("◆ agent-tui")
"""The first frame of the screen, which may come before the settings are read."""


def cursor_of(emulator: Emulator) -> tuple[int, int]:
    return emulator.cursor.y, emulator.cursor.x


def settings_of(program: Program) -> list[object]:
    return termios.tcgetattr(program.terminal)


def settings_of_new_terminal() -> list[object]:
    """Return what a program finds; its own terminal may have other settings by now."""
    ends = os.openpty()
    settings = termios.tcgetattr(ends[0])
    for end in ends:
        os.close(end)
    # As `Program.spawn` does.
    settings[3] &= ~termios.ECHO
    return settings


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


@pytest.mark.parametrize(
    "arguments",
    [("-c",), ("--permission-mode", "default", "--trust"), ("-m", "claude-sonnet-4-5", "-c")],
    ids=" ".join,
)
def test_a_start_with_options_begins_the_same_way(
    held: Held, gate: Path, arguments: tuple[str, ...]
) -> None:
    program = held(*arguments)
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"go on")
    assert program.wait_until(shows("❯ go on")), program.emulator.text()
    release(gate)
    assert program.wait_until(SCREEN), program.emulator.text()
    assert "❯ go on" in program.emulator.text()


def test_ctrl_c_gives_the_terminal_back(held: Held) -> None:
    program = held()
    before = settings_of_new_terminal()
    assert program.wait_until(EARLY), program.emulator.text()
    assert settings_of(program) != before
    program.type(b"some words\x03")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 130
    assert program.emulator.text().strip() == ""
    assert not program.emulator.is_alternate
    assert settings_of(program) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(held: Held, number: signal.Signals) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    os.kill(program.pid, number)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == -number
    assert not program.emulator.is_alternate


def test_a_user_who_stops_it_has_the_terminal_until_it_continues(held: Held, gate: Path) -> None:
    # Only behind a shell with job control is anything stopped.
    shell = held(command=["sh", "-i"], PS1="$ ")
    before = settings_of(shell)
    shell.type(f"{sys.executable} -m tui.cli\r".encode())
    assert shell.wait_until(EARLY), shell.emulator.text()
    shell.type(b"fix it")
    assert shell.wait_until(shows("❯ fix it")), shell.emulator.text()
    program = os.tcgetpgrp(shell.terminal)
    os.kill(program, signal.SIGTSTP)
    assert shell.wait_until(shows("Stopped")), shell.emulator.text()
    assert shell.wait_until(lambda emulator: not emulator.is_alternate)
    assert shell.wait_until(lambda _: settings_of(shell) == before)
    shell.type(b"fg\r")
    assert shell.wait_until(shows("❯ fix it")), shell.emulator.text()
    assert shell.emulator.is_alternate
    release(gate)
    assert shell.wait_until(READY), shell.emulator.text()
    assert "❯ fix it" in shell.emulator.text()
    os.kill(program, signal.SIGTERM)
    assert shell.wait_until(lambda emulator: not emulator.is_alternate)


def test_after_a_pause_from_outside_the_prompt_is_whole_again(held: Held) -> None:
    program = held(command=PROGRAM)  # a child: the pause of no other process can be waited for
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"fix it")
    assert program.wait_until(shows("❯ fix it")), program.emulator.text()
    os.kill(program.pid, signal.SIGSTOP)
    os.waitpid(program.pid, os.WUNTRACED)
    program.emulator.erase_in_display(2)
    os.kill(program.pid, signal.SIGCONT)
    assert program.wait_until(shows("❯ fix it")), program.emulator.text()


def test_what_is_asked_of_the_keyboard_is_taken_back_as_often(held: Held, gate: Path) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    program.emulator.erase_in_display(2)
    os.kill(program.pid, signal.SIGCONT)
    assert program.wait_until(READY), program.emulator.text()
    os.kill(program.pid, signal.SIGTERM)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    output = written(program)
    assert output.count(b"\x1b[>25u") == output.count(b"\x1b[<u") == 2


def test_another_size_of_the_window_shows_the_prompt_in_its_new_place(
    held: Held, gate: Path
) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    program.type(b"fix it")
    assert program.wait_until(shows("❯ fix it")), program.emulator.text()
    program.resize(70, 20)
    assert program.wait_until(lambda emulator: "❯ fix it" in emulator.row_text(17))
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    shown = program.emulator.text().splitlines()
    assert "❯ fix it" in shown[17]
    assert [row for row, line in enumerate(shown) if "──" in line] == [16, 18]
    assert len(shown[16]) == 70


def test_an_interrupt_from_outside_ends_the_screen_as_one(held: Held, gate: Path) -> None:
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    release(gate)
    assert program.wait_until(READY), program.emulator.text()
    os.kill(program.pid, signal.SIGINT)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 130
    assert not program.emulator.is_alternate


def test_a_signal_that_is_to_be_ignored_is(held: Held, gate: Path) -> None:
    program = held(command=["sh", "-c", f"trap '' HUP; exec {sys.executable} -m tui.cli"])
    assert program.wait_until(EARLY), program.emulator.text()
    os.kill(program.pid, signal.SIGHUP)
    release(gate)
    assert program.wait_until(READY), program.emulator.text()


@pytest.mark.parametrize("closed", ["2>errors", "2>&-"])
def test_the_screen_is_shown_where_standard_error_leads_elsewhere(held: Held, closed: str) -> None:
    program = held(command=["sh", "-c", f"exec {sys.executable} -m tui.cli {closed}"])
    assert program.wait_until(EARLY), program.emulator.text()


@pytest.mark.parametrize("kind", ["pipe", "folder", "endless"])
def test_settings_that_are_no_file_hold_nothing_up(
    held: Held, gate: Path, fresh_home: Path, kind: str
) -> None:
    place = fresh_home / ".agent" / "settings.json"
    place.parent.mkdir(exist_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "folder":
            place.mkdir()
        case _:
            place.symlink_to("/dev/zero")
    program = held()
    assert program.wait_until(EARLY), program.emulator.text()
    release(gate)
    assert program.wait_until(READY), program.emulator.text()


def test_a_start_that_fails_is_reported_on_the_terminal_as_it_was(held: Held) -> None:
    program = held(library="raise RuntimeError('no such library')")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 1
    assert "no such library" in program.emulator.text()
    assert not program.emulator.is_alternate


def test_after_the_end_the_terminal_is_as_it_was(held: Held, gate: Path) -> None:
    program = held()
    before = settings_of_new_terminal()
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
        ((), {"AGENT_TUI_SCREEN_READER": "0"}),
        ((), {"knows_model": False}),
        (("--inline",), {}),
    ],
    ids=["lines may be wanted", "nothing is known of a model", "inline"],
)
def test_where_something_else_may_come_first_nothing_is_shown(
    held: Held, gate: Path, arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    program = held(*arguments, **options)
    # Opens once the program waits at the other end.
    with gate.open("wb"):
        program.listen(0)
        assert program.events == []
    assert program.wait_until(shows("agent-tui")), program.emulator.text()
