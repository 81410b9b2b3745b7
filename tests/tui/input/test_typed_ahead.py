"""What was typed before the terminal was taken means what its keys mean."""

from __future__ import annotations

import os
import termios

import pytest

from tui.input.early_prompt import EarlyPrompt
from tui.input.typed_ahead import take_typed_ahead


def type_ahead(master: int, typed: bytes) -> None:
    os.write(master, typed)
    # The terminal has it once it has echoed it.
    echo, wanted = b"", typed.replace(b"\r", b"\r\n")
    while echo != wanted:
        echo += os.read(master, 100)


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        (b"hello\r", b"hello\r"),
        (b"hello\rand on", b"hello\rand on"),
        (b"no line yet", b"no line yet"),
        # As much a paste as a user: nothing is sent that nobody meant to send.
        (b"one\rtwo\r", b"one\ntwo\n"),
        (b"", b""),
    ],
)
def test_enter_is_enter_though_the_terminal_had_made_a_line_end_of_it(
    typed: bytes, keys: bytes
) -> None:
    master, slave = os.openpty()
    try:
        before = termios.tcgetattr(slave)
        type_ahead(master, typed)
        assert take_typed_ahead(slave) == (before, keys)
        assert not termios.tcgetattr(slave)[3] & termios.ICANON
        # Out of line mode nothing was changed on the way.
        assert take_typed_ahead(slave) == (None, b"")
    finally:
        os.close(master)
        os.close(slave)


def test_the_early_prompt_takes_it_as_well() -> None:
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    try:
        type_ahead(master, b"fix it\r")
        early = EarlyPrompt(slave, slave)
        try:
            shown = b""
            while not shown.endswith(b"fix it"):
                shown += os.read(master, 1000)
            assert early.hand_over() == b"fix it\r"
        finally:
            early.restore_terminal()
    finally:
        os.close(master)
        os.close(slave)


def test_a_terminal_that_someone_left_non_blocking_is_given_back_as_it_was() -> None:
    master, slave = os.openpty()
    try:
        before = termios.tcgetattr(slave)
        os.set_blocking(slave, False)
        assert take_typed_ahead(slave) == (before, b"")
    finally:
        os.close(master)
        os.close(slave)


def test_what_is_no_terminal_is_left_alone() -> None:
    read_end, write_end = os.pipe()
    assert take_typed_ahead(read_end) == (None, b"")
    os.close(read_end)
    os.close(write_end)
