"""The window's title and progress sign: cleaned, written once, given back."""

from __future__ import annotations

import pytest

from tui.terminal.title import TerminalTitle, knows_progress


def window(**env: str) -> tuple[TerminalTitle, list[str]]:
    written: list[str] = []
    return TerminalTitle(written.append, env), written


def test_a_title_is_written_when_it_changes_and_kept_before_the_first() -> None:
    shown, written = window()
    shown.show("idle")
    shown.name("slugs")
    shown.show("idle")
    shown.show("working")
    shown.show("working")
    assert written == ["\x1b[22;2t\x1b]2;slugs\x1b\\", "\x1b]2;● slugs\x1b\\"]
    assert shown.at_stop == "\x1b[23;2t"
    assert shown.at_start == "\x1b[22;2t\x1b]2;● slugs\x1b\\"


def test_a_name_cannot_become_a_command_of_the_terminal() -> None:
    shown, written = window()
    shown.name("a\x1b]52;c;evil\x07b\nc" + "d" * 500)
    assert written[0].startswith("\x1b[22;2t\x1b]2;ab cddd")
    assert len(written[0]) < 150


def test_progress_is_shown_where_the_terminal_knows_it() -> None:
    shown, written = window(TERM_PROGRAM="ghostty", CLAUDE_CODE_DISABLE_TERMINAL_TITLE="1")
    shown.name("slugs")
    shown.show("working")
    shown.show("asking")
    assert shown.at_stop == "\x1b]9;4;0\x1b\\"
    shown.show("idle")
    assert written == ["\x1b]9;4;3\x1b\\", "\x1b]9;4;4;100\x1b\\", "\x1b]9;4;0\x1b\\"]
    assert shown.at_stop == ""


def test_the_setting_decides_about_progress() -> None:
    shown, written = window(CLAUDE_CODE_DISABLE_TERMINAL_TITLE="1")
    shown.set_progress_enabled(True)
    shown.show("working")
    assert written == ["\x1b]9;4;3\x1b\\"]
    shown, written = window(WT_SESSION="x")
    shown.set_progress_enabled(False)
    shown.show("working")
    assert written == []


@pytest.mark.parametrize(
    ("env", "known"),
    [({}, False), ({"TERM_PROGRAM": "Apple_Terminal"}, False), ({"WT_SESSION": "1"}, True)],
)
def test_which_terminals_show_progress(env: dict[str, str], known: bool) -> None:
    assert knows_progress(env) is known
