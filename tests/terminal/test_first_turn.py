"""A prompt of the command line is sent before the screen's library is there."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from agent.model.scripted.faults import Stall
from agent.model.scripted.scenario import FaultPlan, Scenario, Text, ToolCall, Turn
from benchmarks.program import Program
from tests.terminal.conftest import (
    PROGRAM,
    WAITING,
    Held,
    Serve,
    ThreadedServer,
    release,
    shows,
)

pytestmark = pytest.mark.pty

PROMPT = "say hello"
ANSWER = Turn((Text("Hello there."),), times=0)
STALLED = Scenario(turns=(ANSWER,), faults=(FaultPlan(Stall(hold="silent"), request=1),))
LISTS_MODULES = """
import os, sys
with open(os.environ["HELD_AT"] + ".modules", "w") as listed:
    listed.write(" ".join(sys.modules))
"""
NEEDED_LATER = {
    "anthropic", "click", "mcp", "permissions.grants.suggest", "permissions.lint.lint",
    "permissions.shell.analyze", "pydantic", "rich", "tui.app.parts", "tui.dialogs.onboarding",
    "tui.screen.presenter", "tui.screen_reader.session", "tui.transcript.transcript_widget",
    "wcwidth",
}  # fmt: skip


def wait_for_requests(program: Program, server: ThreadedServer, count: int) -> None:
    assert program.wait_until(lambda _: len(server.server.requests) >= count)


def end_of(program: Program) -> int | None:
    program.wait_until(lambda _: program.exit_status is not None, timeout_s=20)
    return program.exit_status


def test_the_request_waits_for_no_screen(held: Held, serve: Serve, gate: Path) -> None:
    server = serve(Scenario(turns=(ANSWER,)))
    program = held(PROMPT, server=server)
    assert program.wait_until(shows("❯")), program.emulator.text()
    wait_for_requests(program, server, 1)
    release(gate)
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    assert program.emulator.text().count(PROMPT) == 1
    assert len(server.server.requests) == 1


def test_the_answer_is_shown_before_the_screen(held: Held, serve: Serve, gate: Path) -> None:
    server = serve(Scenario(turns=(Turn((Text("Done with **all** of it."),), times=0),)))
    program = held(PROMPT, server=server)
    assert program.wait_until(shows("Done with")), program.emulator.text()
    before = program.emulator.text().splitlines()
    assert [line.rstrip() for line in before[:3]] == [f" ❯ {PROMPT}", "", "   Done with"]
    program.resize(60, 20)
    assert program.wait_until(lambda e: e.text().splitlines()[17].startswith(" ❯"))
    assert program.emulator.text().splitlines()[2].rstrip() == "   Done with"
    program.type(b"next")
    assert program.wait_until(shows("next")), program.emulator.text()
    release(gate)
    assert program.wait_until(shows("Done with all of it.")), program.emulator.text()
    shown = program.emulator.text()
    assert shown.count(PROMPT) == shown.count("Done with") == shown.count("next") == 1


def test_what_the_request_does_not_need_is_loaded_after_it(
    held: Held, serve: Serve, gate: Path
) -> None:
    server = serve(Scenario(turns=(ANSWER,)))
    program = held(PROMPT, command=PROGRAM, library=LISTS_MODULES + WAITING, server=server)
    release(gate)
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    loaded = set(gate.with_suffix(".modules").read_text().split())
    assert "agent.conversation.conversation" in loaded
    assert loaded & NEEDED_LATER == set()


def test_what_is_typed_meanwhile_is_the_next_prompt(held: Held, serve: Serve, gate: Path) -> None:
    server = serve(Scenario(turns=(ANSWER,)))
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    program.type(b"and again\r")
    release(gate)
    assert program.wait_until(lambda e: e.text().count("Hello there.") == 2)
    shown = [line.strip() for line in program.emulator.text().splitlines() if line.strip()]
    assert shown[:4] == [f"❯ {PROMPT}", "Hello there.", "❯ and again", "Hello there."]


def test_ctrl_c_before_the_screen_ends_turn_and_program(held: Held, serve: Serve) -> None:
    server = serve(STALLED)
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    program.type(b"\x03")
    assert end_of(program) == 130
    assert not program.emulator.is_alternate
    assert "Continue with: agent-tui -r" in program.emulator.text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_screen_ends_them_too(
    held: Held, serve: Serve, fresh_home: Path, number: signal.Signals
) -> None:
    server = serve(STALLED)
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    os.kill(program.pid, number)
    assert end_of(program) == 128 + number
    assert not program.emulator.is_alternate
    (session,) = (fresh_home / ".agent" / "sessions").rglob("*.jsonl")
    assert PROMPT in session.read_text()


def test_esc_before_the_screen_ends_the_turn(held: Held, serve: Serve, gate: Path) -> None:
    server = serve(STALLED)
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    program.type(b"\x1b")
    release(gate)
    assert program.wait_until(shows("nterrupted")), program.emulator.text()
    program.type(b"again\r")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()


def test_esc_before_the_request_sends_nothing(
    held: Held, serve: Serve, gate: Path, fresh_home: Path, tmp_path: Path
) -> None:
    server, hook = serve(Scenario(turns=(ANSWER,))), tmp_path / "hook"
    os.mkfifo(hook)
    configure_hook(fresh_home, "SessionStart", f"cat {hook}")
    program = held(PROMPT, server=server)
    with hook.open("wb"):  # the hook runs
        program.type(b"\x1b")
        # A hook that runs calls for the screen.
        release(gate)
        assert program.wait_until(shows("Interrupted")), program.emulator.text()
    assert server.server.requests == []


def configure_hook(home: Path, event: str, command: str) -> None:
    (home / ".agent").mkdir(exist_ok=True)
    entry = {"hooks": [{"type": "command", "command": command}]}
    (home / ".agent" / "settings.json").write_text(json.dumps({"hooks": {event: [entry]}}))


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_hooks_come_before_the_request(
    held: Held, serve: Serve, gate: Path, fresh_home: Path, event: str
) -> None:
    configure_hook(fresh_home, event, "echo from the hook")
    server = serve(Scenario(turns=(ANSWER,)))
    program = held(PROMPT, server=server)
    release(gate)
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    (request,) = server.server.requests
    assert "from the hook" in json.dumps(request.body)


def test_nothing_is_sent_before_the_folder_is_trusted(
    held: Held, serve: Serve, gate: Path, project: Path
) -> None:
    (project / ".agent").mkdir()
    (project / ".agent" / "settings.json").write_text('{"permissions": {"allow": ["Bash(ls)"]}}')
    server = serve(Scenario(turns=(ANSWER,)))
    program = held(PROMPT, server=server)
    release(gate)
    assert program.wait_until(shows("I trust this folder")), program.emulator.text()
    assert server.server.requests == []
    # A fresh dialog takes no keys for a moment.
    program.wait_for_quiet(0.4)
    program.type(b"1")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    assert program.emulator.text().count(f"❯ {PROMPT}") == 1


def test_a_question_waits_for_the_screen(
    held: Held, serve: Serve, gate: Path, project: Path
) -> None:
    write = ToolCall("Write", {"file_path": str(project / "new.txt"), "content": "x\n"})
    server = serve(Scenario(turns=(Turn((write,)), ANSWER)))
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    release(gate)
    assert program.wait_until(shows("new.txt")), program.emulator.text()
    assert program.wait_until(shows("Yes")), program.emulator.text()
    assert not (project / "new.txt").exists()
    program.wait_for_quiet(0.4)
    program.type(b"1")
    assert program.wait_until(shows("Hello there.")), program.emulator.text()
    assert (project / "new.txt").exists()


def test_a_long_answer_loses_nothing(held: Held, serve: Serve, gate: Path) -> None:
    words = [f"w{number}" for number in range(300)]
    server = serve(Scenario(turns=(Turn((Text(" ".join(words)),)),)))
    program = held(PROMPT, server=server)
    wait_for_requests(program, server, 1)
    release(gate)
    assert program.wait_until(lambda e: all(word in e.text().split() for word in words))


def test_a_start_that_cannot_continue_gives_the_reason(
    held: Held, gate: Path, fresh_home: Path
) -> None:
    program = held(PROMPT, "--resume", "no-such-session")
    release(gate)
    assert end_of(program) == 1
    assert "no-such-session" in program.emulator.text()
