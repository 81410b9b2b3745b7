"""The program as a user uses it: start, type, approve, resize, quit; the terminal as it was
found."""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.faults import Position, Stall
from agent.model.scripted.scenario import (
    FaultPlan,
    ModelInfo,
    Scenario,
    Text,
    ToolCall,
    Turn,
)
from benchmarks.program import Program
from tests.journeys.program import showing
from tests.terminal.conftest import HELLO, PROGRAM, Screen, ThreadedServer, shows, written

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]

EDIT = Scenario(
    turns=(
        Turn((Text("I look first."), ToolCall("Read", {"file_path": "greet.py"}))),
        Turn(
            (
                ToolCall(
                    "Edit", {"file_path": "greet.py", "old_string": "helo", "new_string": "hello"}
                ),
            )
        ),
        Turn((Text("It says hello now."),)),
        Turn((Text("You said something else."),), times=0),
    )
)
READY = shows("What should I do?")


def _modes(program: Program) -> object:
    return termios.tcgetattr(program.terminal)


def test_from_a_request_to_a_reviewed_edit(screen: Screen, serve: Serve, project: Path) -> None:
    program = screen(server=serve(EDIT), command=PROGRAM)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"fix the typo")
    assert program.wait_until(shows("fix the typo")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("Make this edit?")), program.emulator.text()
    assert program.wait_until(shows("print('helo')")), program.emulator.text()
    assert program.wait_until(shows("print('hello')")), program.emulator.text()
    program.listen(0.3)
    program.type(b"1")
    assert program.wait_until(shows("It says hello now.")), program.emulator.text()
    assert (project / "greet.py").read_text() == "print('hello')\n"


def test_quitting_leaves_the_terminal_and_the_resume_command(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(HELLO), command=PROGRAM)
    before = _modes(program)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"hi\r")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    program.type(b"\x04")
    program.listen(0.2)
    program.type(b"\x04")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 0
    text = program.emulator.text()
    assert "Hello there." in text
    assert "agent-tui -r" in text
    assert "What should I do?" not in text
    assert not program.emulator.cursor_is_hidden
    assert before is not None


def test_continue_brings_the_conversation_back_after_a_kill(screen: Screen, serve: Serve) -> None:
    server = serve(Scenario(turns=(Turn((Text("The answer is 42."),), times=0),)))
    first = screen(server=server)
    assert first.wait_until(READY), first.emulator.text()
    first.type(b"what is it?\r")
    assert first.wait_until(shows("The answer is 42.")), first.emulator.text()
    first.listen(0.3)
    os.kill(first.pid, signal.SIGKILL)
    first.wait_until(lambda _: first.exit_status is not None)

    second = screen("-c", server=server)
    assert second.wait_until(shows("The answer is 42.")), second.emulator.text()
    assert "what is it?" in second.emulator.text()


def test_a_continued_conversation_shows_its_share_of_the_window_that_the_endpoint_reports(
    screen: Screen, serve: Serve
) -> None:
    usage = {"input_tokens": 50_000, "cache_creation_input_tokens": 0}
    scenario = Scenario(
        turns=(Turn((Text("Hello there."),), times=0, usage=usage),),
        models=(ModelInfo("claude-opus-5-5", max_input_tokens=100_000),),
    )
    server = serve(scenario)
    first = screen(server=server)
    assert first.wait_until(READY), first.emulator.text()
    first.type(b"hello\r")
    assert first.wait_until(shows("50k tokens, 50%")), first.emulator.text()
    first.type(b"/exit\r")
    first.wait_until(lambda _: first.exit_status is not None)

    second = screen("-c", server=server)
    assert second.wait_until(shows("50k tokens, 50%")), second.emulator.text()


def test_resizing_while_typing_loses_nothing(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(EDIT))
    assert program.wait_until(READY), program.emulator.text()
    typed = "the quick brown fox jumps"
    for number, character in enumerate(typed):
        program.resize(60 + number * 2, 20 + number % 10)
        program.type(character.encode())
        program.listen(0.02)
    assert program.wait_until(shows(typed)), program.emulator.text()


@pytest.mark.parametrize("size", [(40, 12), (20, 5), (8, 2), (1, 1)])
def test_small_windows_start_and_quit(screen: Screen, serve: Serve, size: tuple[int, int]) -> None:
    program = screen(server=serve(EDIT), size=size)
    # Before the driver has the terminal a Ctrl+C ends the start.
    assert program.wait_until(lambda _: b"\x1b[?1004h" in written(program))
    program.type(b"hi")
    program.listen(0.3)
    program.type(b"\x03")
    program.listen(0.2)
    program.type(b"\x03")
    program.listen(0.1)
    program.type(b"\x03")
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 0, program.emulator.text()


def test_an_exported_size_does_not_beat_the_terminals_own(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(EDIT), size=(100, 30), COLUMNS="40", LINES="10")
    assert program.wait_until(READY), program.emulator.text()
    assert len(program.emulator.row_text(26)) == 100


def test_escape_interrupts_and_keeps_what_was_written(screen: Screen, serve: Serve) -> None:
    scenario = Scenario(
        turns=(Turn((Text("one two three four five six seven"),)), EDIT.turns[-1]),
        faults=(FaultPlan(Stall(Position("text"), hold="silent"), request=1),),
    )
    server = serve(scenario)
    program = screen(server=server)
    assert program.wait_until(READY), program.emulator.text()
    program.type(b"count\r")
    server.reached("silent")
    assert program.wait_until(shows("one")), program.emulator.text()
    program.type(b"\x1b")
    assert program.wait_until(READY), program.emulator.text()
    program.wait_until(shows("nterrupted"))
    assert "nterrupted" in program.emulator.text()
    assert "one" in program.emulator.text()


def test_without_a_model_the_demo_is_offered(screen: Screen) -> None:
    program = screen()
    assert program.wait_until(shows("No model is configured")), program.emulator.text()
    program.listen(0.3)
    program.type(b"1")
    assert program.wait_until(shows("demo: scripted model")), program.emulator.text()


def test_terminal_is_restored_when_the_program_is_terminated(screen: Screen, serve: Serve) -> None:
    program = screen(server=serve(EDIT), command=PROGRAM)
    assert program.wait_until(READY), program.emulator.text()
    os.kill(program.pid, signal.SIGTERM)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status is not None
    assert not program.emulator.cursor_is_hidden
    assert "What should I do?" not in program.emulator.text()


def test_an_endpoint_that_needs_a_model_offers_its_own(
    screen: Screen, serve: Serve, fresh_home: Path
) -> None:
    models = (ModelInfo("glm-small"), ModelInfo("glm-large"))
    server = serve(Scenario(turns=(Turn((Text("Hello there."),), times=0),), models=models))
    program = screen(server=server, ANTHROPIC_MODEL="")
    assert program.wait_until(shows("Use glm-large")), program.emulator.text()
    program.listen(0.3)
    program.type(b"fix it")
    program.listen(0.3)
    program.type(b"\x1b[B\r")
    assert program.wait_until(shows("❯ fix it")), program.emulator.text()
    program.type(b"\r")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    assert server.server.requests[-1].body["model"] == "glm-large"
    assert json.loads((fresh_home / ".agent/settings.json").read_text()) == {"model": "glm-large"}


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_show_a_screen_gets_advice(
    screen: Screen, serve: Serve, term: str
) -> None:
    program = screen(server=serve(EDIT), command=PROGRAM, TERM=term)
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=10)
    assert program.exit_status == 2
    assert f"TERM is {term or 'not set'}" in program.emulator.text()
    assert "agent-tui -p" in program.emulator.text()


def test_a_paste_that_the_terminal_does_not_mark_is_sent_whole(
    screen: Screen, serve: Serve
) -> None:
    server = serve(Scenario(turns=(Turn((Text("Hello there."),), times=0),)))
    program = screen(server=server)
    assert program.wait_until(READY), program.emulator.text()
    pasted = "".join(f"line {number} of a long log\n" for number in range(12_000))
    program.type(pasted.encode())
    assert program.wait_until(shows("[Pasted text #1")), program.emulator.text()
    program.listen(0.5)
    program.type(b"\r")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    (sent,) = [
        block["text"]
        for block in server.server.requests[-1].body["messages"][-1]["content"]
        if "line 1 of" in block["text"]
    ]
    assert sent.strip() == pasted.strip()
    assert "[Pasted text #9" not in program.emulator.text()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("options", [(), ("--screen-reader",)], ids=["screen", "lines"])
def test_f12_the_running_program_shows_the_key_to_no_other_process(
    screen: Screen, serve: Callable[[Scenario], ThreadedServer], options: tuple[str, ...]
) -> None:
    server = serve(Scenario(turns=(Turn((Text("The answer is 42."),), times=0),)))
    key = f"sk-ant-{uuid.uuid4()}"
    program = screen(*options, server=server, command=PROGRAM, ANTHROPIC_API_KEY=key)
    program.type(b"hello\r")
    assert program.wait_until(shows("The answer is 42.")), program.emulator.text()
    assert showing(key) == []
    assert server.server.requests[-1].headers["authorization"] == f"Bearer {key}"
