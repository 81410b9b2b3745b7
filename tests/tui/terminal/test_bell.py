"""Calls when nobody looks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tui.terminal.bell import TerminalBell


def timed(_delay_s: float, _then: Callable[[], None]) -> Any:
    raise AssertionError


def test_nothing_is_sent_while_the_window_is_looked_at() -> None:
    sent: list[str] = []
    attention = TerminalBell(sent.append, lambda: "auto", str, lambda: 0.0, timed)
    assert not attention.call("done")
    attention.set_focus(False)
    assert attention.call("done")
    attention.set_focus(True)
    assert not attention.call("done")
    assert sent == ["\x1b]9;done\x1b\\\x07"]


@pytest.mark.parametrize(
    ("channel", "sent"),
    [
        ("terminal_bell", ["\x07"]),
        ("notifications_disabled", []),
        ("iterm2", ["\x1b]9;x\x1b\\"]),
        ("iterm2_with_bell", ["\x1b]9;x\x1b\\\x07"]),
        ("kitty", ["\x1b]99;i=agent-tui;x\x1b\\"]),
        ("ghostty", ["\x1b]777;notify;agent-tui;x\x1b\\"]),
    ],
)
def test_channels(channel: str, sent: list[str]) -> None:
    written: list[str] = []
    attention = TerminalBell(written.append, lambda: channel, str, lambda: 0.0, timed)
    attention.set_focus(False)
    attention.call("x")
    assert written == sent


def test_text_cannot_become_a_command_of_the_terminal() -> None:
    written: list[str] = []
    attention = TerminalBell(written.append, lambda: "auto", str, lambda: 0.0, timed)
    attention.set_focus(False)
    attention.call("a\x1b]52;c;evil\x07b\nc")
    assert written == ["\x1b]9;ab c\x1b\\\x07"]


def test_tmux_is_asked_to_hand_it_on() -> None:
    written: list[str] = []
    attention = TerminalBell(
        written.append, lambda: "auto", str, lambda: 0.0, timed, is_in_tmux=True
    )
    attention.set_focus(False)
    attention.call("a;b")
    assert written == ["\x1bPtmux;\x1b\x1b]9;a,b\x1b\x1b\\\x1b\\\x07"]


def test_the_project_is_named() -> None:
    written: list[str] = []
    attention = TerminalBell(written.append, lambda: "iterm2", lambda: "slugs", lambda: 0.0, timed)
    attention.set_focus(False)
    attention.call("Run this command? make")
    assert written == ["\x1b]9;slugs: Run this command? make\x1b\\"]


def test_without_reports_of_the_focus_a_user_who_types_nothing_is_called() -> None:
    written: list[str] = []
    idle_s = 0.0
    attention = TerminalBell(written.append, lambda: "terminal_bell", str, lambda: idle_s, timed)
    assert not attention.call("done")
    idle_s = 60.0
    assert attention.call("done")
    attention.reports_focus()
    assert not attention.call("done")


class PlannedTimer:
    """What waits for its time."""

    def __init__(self) -> None:
        self.planned: list[tuple[float, Callable[[], None]]] = []

    def set_timer(self, delay_s: float, then: Callable[[], None]) -> Any:
        self.planned.append((delay_s, then))
        return self

    def stop(self) -> None:
        self.planned.clear()


def test_without_reports_of_the_focus_an_open_question_calls_once_no_key_came() -> None:
    written: list[str] = []
    idle_s = 3.0
    timer = PlannedTimer()
    attention = TerminalBell(
        written.append, lambda: "terminal_bell", str, lambda: idle_s, timer.set_timer
    )
    attention.ask("Run this command?")
    ((delay_s, then),) = timer.planned
    assert (delay_s, written) == (7.0, [])
    idle_s = 5.0
    then()
    assert not written
    idle_s = 10.0
    then()
    assert written == ["\x07"]
    attention.clear_question()
    assert not timer.planned
    attention.reports_focus()
    attention.ask("Run this command?")
    assert not timer.planned
