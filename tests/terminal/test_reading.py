"""A change taken in part, and the transcript read and searched, in a real terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from tests.terminal.conftest import Screen, ThreadedServer, shows

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]

OLD = "".join(f"line {number}\n" for number in range(1, 21))
NEW = OLD.replace("line 2\n", "LINE 2\n").replace("line 18\n", "LINE 18\n")
CHANGE = Scenario(
    turns=(
        Turn((ToolCall("Write", {"file_path": "list.txt", "content": NEW}),)),
        Turn((Text("Only the needle in this haystack matters."),)),
    )
)
SEEN = Scenario(
    turns=(
        Turn((ToolCall("Read", {"file_path": "list.txt"}),)),
        *CHANGE.turns,
    )
)


def test_one_part_of_a_change_is_made_and_the_transcript_is_searched(
    screen: Screen, serve: Serve, project: Path
) -> None:
    (project / "list.txt").write_text(OLD)
    server = serve(SEEN)
    program = screen(server=server)
    assert program.wait_until(shows("What should I do?")), program.emulator.text()
    program.type(b"change it")
    assert program.wait_until(shows("change it")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("Write this file?")), program.emulator.text()
    program.listen(0.3)
    program.type(b"h")
    assert program.wait_until(shows("Make 2 of 2 changes?")), program.emulator.text()
    program.type(b"n")
    assert program.wait_until(shows("Make 1 of 2 changes?")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("needle")), program.emulator.text()
    assert (project / "list.txt").read_text() == OLD.replace("line 18\n", "LINE 18\n")
    told = str(server.server.requests[-1].body)
    assert "The user changed this call before approving it" in told

    program.type(b"\x0f")
    assert program.wait_until(shows("/ search")), program.emulator.text()
    program.type(b"/needle")
    assert program.wait_until(shows("1 hit")), program.emulator.text()
    program.type(b"\rq")
    assert program.wait_until(shows("What should I do?")), program.emulator.text()


def test_a_command_is_edited_without_an_editor_and_runs_as_edited(
    screen: Screen, serve: Serve, project: Path
) -> None:
    call = ToolCall("Bash", {"command": "touch made-by-the-model"})
    server = serve(Scenario(turns=(Turn((call,)), Turn((Text("So be it."),), times=0))))
    program = screen(server=server)
    assert program.wait_until(shows("What should I do?")), program.emulator.text()
    program.type(b"make it")
    assert program.wait_until(shows("make it")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("Run this command?")), program.emulator.text()
    program.listen(0.3)
    program.type(b"e")
    assert program.wait_until(shows("Edit the command")), program.emulator.text()
    program.type(b"\x15touch \xe6\xbc\xa2\xe5\xad\x97")
    assert program.wait_until(shows("touch 漢字")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("Run your changed version?")), program.emulator.text()
    program.listen(0.3)
    program.type(b"y")
    assert program.wait_until(shows("So be it.")), program.emulator.text()
    assert (project / "漢字").exists()
    assert not (project / "made-by-the-model").exists()
    assert "touch 漢字" in str(server.server.requests[-1].body)
