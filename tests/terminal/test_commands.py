"""Commands in the real terminal: a file of one's own, sessions left and found, files, keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from benchmarks.program import Program
from tests.terminal.conftest import Screen, ThreadedServer, clear_away, shows

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]
READY = shows("What should I do?")
ANSWERS = Scenario(turns=(Turn((Text("The answer is 42."),), times=0),))
EDIT = Scenario(
    turns=(
        Turn((ToolCall("Read", {"file_path": "greet.py"}),)),
        Turn(
            (
                ToolCall(
                    "Edit", {"file_path": "greet.py", "old_string": "helo", "new_string": "hello"}
                ),
            )
        ),
        Turn((Text("It says hello now."),), times=0),
    )
)


def see(program: Program, text: str, timeout_s: float = 20.0) -> None:
    assert program.wait_until(shows(text), timeout_s=timeout_s), program.emulator.text()


def type_line(program: Program, text: str) -> None:
    program.type(text.encode())
    see(program, text)
    program.type(b"\r")


def test_a_command_of_ones_own_appears_while_the_program_runs(
    screen: Screen, serve: Serve, fresh_home: Path
) -> None:
    directory = fresh_home / ".agent" / "commands"
    directory.mkdir(parents=True)
    server = serve(ANSWERS)
    program = screen(server=server)
    assert program.wait_until(READY), program.emulator.text()
    type_line(program, "hello")
    see(program, "The answer is 42.")
    program.type(b"/gre")
    see(program, "/gre")
    (directory / "greet.md").write_text("---\ndescription: Greet people\n---\nSay hello to $1.\n")
    see(program, "Greet people")
    program.type(b"et Ada\r")
    assert program.wait_until(lambda _: len(server.server.requests) == 2), program.emulator.text()
    assert "Say hello to Ada." in str(server.server.requests[1].body["messages"])
    see(program, "/greet Ada")


def test_a_session_is_left_and_found_again(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(ANSWERS))
    assert program.wait_until(READY), program.emulator.text()
    type_line(program, "what is the question")
    see(program, "The answer is 42.")
    clear_away(program, "The answer is 42.")
    type_line(program, "/resume")
    see(program, "what is the question")
    program.listen(0.4)
    program.type(b"\r")
    see(program, "The answer is 42.")


def test_a_cleared_conversation_stays_in_its_mode(screen: Screen, serve: Serve) -> None:
    server = serve(ANSWERS)
    program = screen(server=server)
    assert program.wait_until(READY), program.emulator.text()
    type_line(program, "/mode plan")
    see(program, "plan mode on")
    type_line(program, "what is the question")
    see(program, "The answer is 42.")
    clear_away(program, "The answer is 42.")
    type_line(program, "and now")
    see(program, "The answer is 42.")
    assert "plan mode on" in program.emulator.text()
    assert "plan mode" in str(server.server.requests[-1].body["messages"]).lower()


def test_a_start_with_r_alone_lets_the_user_choose(screen: Screen, serve: Serve) -> None:
    server = serve(ANSWERS)
    for question in ("the older question", "the newer question"):
        program = screen(server=server)
        assert program.wait_until(READY), program.emulator.text()
        type_line(program, question)
        see(program, "The answer is 42.")
        program.close()
    program = screen("-r", server=server)
    see(program, "the older question")
    see(program, "the newer question")
    program.listen(0.4)
    program.type(b"\x1b[B\r")
    assert program.wait_until(lambda e: "the newer question" not in e.text())
    see(program, "The answer is 42.")
    assert "the older question" in program.emulator.text()


def test_what_was_typed_is_there_at_the_next_start(screen: Screen, serve: Serve) -> None:
    server = serve(ANSWERS)
    first = screen(server=server)
    assert first.wait_until(READY), first.emulator.text()
    type_line(first, "remember this line")
    see(first, "The answer is 42.")
    first.close()
    second = screen(server=server)
    assert second.wait_until(READY), second.emulator.text()
    for _ in range(40):
        second.type(b"\x1b[A")
        if second.wait_until(shows("remember this line"), timeout_s=0.5):
            return
    raise AssertionError(second.emulator.text())


def test_going_back_brings_the_files_along(screen: Screen, serve: Serve, project: Path) -> None:
    program = screen("--permission-mode", "acceptEdits", server=serve(EDIT))
    assert program.wait_until(READY), program.emulator.text()
    type_line(program, "fix the typo")
    see(program, "It says hello now.")
    assert (project / "greet.py").read_text() == "print('hello')\n"
    type_line(program, "/rewind")
    see(program, "Rewind to before which message?")
    program.listen(0.4)
    program.type(b"\r")
    see(program, "1 file will be restored")
    see(program, "greet.py")
    program.listen(0.4)
    program.type(b"\r")
    see(program, "1 file restored")
    assert (project / "greet.py").read_text() == "print('helo')\n"
    program.type(b"\x15")
    type_line(program, "/rewind")
    see(program, "Undo the last restore")
    program.listen(0.4)
    program.type(b"\r")
    see(program, "1 file changed back")
    assert (project / "greet.py").read_text() == "print('hello')\n"


def test_keys_and_status_line_come_from_files(
    screen: Screen, serve: Serve, fresh_home: Path
) -> None:
    home = fresh_home / ".agent"
    home.mkdir(exist_ok=True)
    keys = {"bindings": [{"context": "Chat", "bindings": {"ctrl+y": "chat:help", "?": None}}]}
    (home / "keybindings.json").write_text(json.dumps(keys))
    command = "printf '\\033[31mmine \\033]0;x\\007'; cat | wc -c > /dev/null; pwd -P"
    line = {"statusLine": {"type": "command", "command": command}}
    (home / "settings.json").write_text(json.dumps(line))
    program = screen(server=serve(ANSWERS))
    assert program.wait_until(READY), program.emulator.text()
    see(program, "mine /")
    program.type(b"\x19")
    see(program, "/help for all shortcuts")


def test_files_are_offered_and_their_content_goes_along(
    screen: Screen, serve: Serve, project: Path
) -> None:
    server = serve(ANSWERS)
    program = screen(server=server)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"see @gree")
    see(program, "@greet.py")
    program.type(b"\t")
    see(program, "see @greet.py")
    program.type(b"\r")
    see(program, "The answer is 42.")
    assert "print('helo')" in str(server.server.requests[-1].body["messages"])
