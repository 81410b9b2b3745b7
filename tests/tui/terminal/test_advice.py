"""What is said of each terminal, from its environment alone."""

from __future__ import annotations

import pytest

from tui.panels.terminal_setup import terminal_text
from tui.terminal.advice import TerminalAdvice, advise, terminal_of

PLAIN = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


def said(**env: str) -> dict[str, TerminalAdvice]:
    return {advice.name: advice for advice in advise({**PLAIN, **env})}


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"TERM_PROGRAM": "iTerm.app"}, "iTerm2"),
        ({"TERM_PROGRAM": "Apple_Terminal"}, "Terminal.app"),
        ({"TERM_PROGRAM": "vscode"}, "the terminal of VS Code"),
        ({"KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "foot"}, "foot"),
        ({"WT_SESSION": "1"}, "Windows Terminal"),
        ({"VTE_VERSION": "7200"}, "a VTE terminal (GNOME and similar)"),
        ({"KONSOLE_VERSION": "240400"}, "Konsole"),
    ],
)
def test_terminals_are_known_by_what_they_set(env: dict[str, str], name: str) -> None:
    found = terminal_of({**PLAIN, **env})
    assert found is not None
    assert found.name == name


def test_an_unknown_terminal_is_no_problem() -> None:
    assert terminal_of(PLAIN) is None
    assert all(advice.state != "problem" for advice in said().values())
    assert "ctrl+j" in said()["line break"].text


def test_what_works_needs_no_fix() -> None:
    good = said(TERM_PROGRAM="ghostty", COLORTERM="truecolor")
    assert {advice.state for advice in good.values()} == {"ok"}
    assert {advice.fix for advice in good.values()} == {""}


@pytest.mark.parametrize("variable", ["TMUX", "STY", "ZELLIJ"])
def test_multiplexers_are_explained(variable: str) -> None:
    assert said(**{variable: "1"}).keys() & {"tmux", "screen", "zellij"}


def test_a_terminal_that_can_draw_nothing_is_offered_lines() -> None:
    (only,) = advise({"TERM": "dumb"})
    assert only.state == "problem"
    assert "--screen-reader" in only.fix


def test_as_users_read_it() -> None:
    text = terminal_text({**PLAIN, "COLORTERM": "24bit", "TMUX": "x", "LANG": "C"})
    assert "✓ color: 24-bit" in text
    assert "\n    set -g focus-events on\n" in text
    assert "the locale is C, which is not UTF-8" in text
