"""The trust question where the answer cannot be written down."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, Turn
from tests.terminal.conftest import Screen, ThreadedServer, clear_away, shows

pytestmark = pytest.mark.pty


def test_a_no_is_not_asked_for_again_by_the_next_conversation(
    screen: Screen, serve: Callable[[Scenario], ThreadedServer], project: Path
) -> None:
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    server = serve(Scenario(turns=(Turn((Text("The answer is 42."),), times=0),)))
    program = screen(server=server)
    assert program.wait_until(shows("I trust this folder")), program.emulator.text()
    # A fresh dialog takes no keys for a moment.
    program.wait_for_quiet(0.4)
    program.type(b"2")
    assert program.wait_until(shows("What should I do?")), program.emulator.text()
    program.type(b"hello\r")
    assert program.wait_until(shows("The answer is 42.")), program.emulator.text()
    clear_away(program, "The answer is 42.")
    program.type(b"hello\r")
    assert program.wait_until(shows("The answer is 42.")), program.emulator.text()


def test_an_answer_that_cannot_be_kept_is_reported_and_nothing_counts(
    screen: Screen, serve: Callable[[Scenario], ThreadedServer], project: Path, tmp_path: Path
) -> None:
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    # Not even root can make a folder below a file.
    (tmp_path / "file").write_text("")
    server = serve(Scenario(turns=(Turn((Text("Hello."),), times=0),)))
    program = screen(server=server, AGENT_TUI_HOME=str(tmp_path / "file" / "home"))
    assert program.wait_until(shows("I trust this folder")), program.emulator.text()
    # A fresh dialog takes no keys for a moment.
    program.wait_for_quiet(0.4)
    program.type(b"1")
    assert program.wait_until(shows("cannot be saved, so it has no effect")), (
        program.emulator.text()
    )
    assert program.wait_until(shows("This folder is not trusted")), program.emulator.text()
    assert program.exit_status is None
