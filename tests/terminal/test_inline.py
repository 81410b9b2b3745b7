"""The inline mode in a terminal: the conversation is in its scrollback, the prompt below it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.model.scripted.scenario import Scenario, Text, ToolCall, Turn
from benchmarks.program import Program
from tests.terminal.conftest import Screen, ThreadedServer, shows, written
from tests.terminal.scrollback_emulator import ScrollbackEmulator

pytestmark = pytest.mark.pty

Serve = Callable[[Scenario], ThreadedServer]
ROWS = 24
LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60))
LIST = "\n".join(f"- item {number}" for number in range(40))


def start(
    screen: Screen, server: ThreadedServer, *arguments: str
) -> tuple[Program, ScrollbackEmulator]:
    # The emulator cuts rows, as xterm does.
    program = screen(*arguments, server=server, size=(80, ROWS), XTERM_VERSION="XTerm(390)")
    program.emulator = emulator = ScrollbackEmulator(80, ROWS)
    emulator.write(b"$ before the program\r\n")
    assert program.wait_until(shows("What should I do?")), program.emulator.text()
    return program, emulator


def send(program: Program, text: str) -> None:
    program.type(text.encode())
    assert program.wait_until(shows(text)), program.emulator.text()
    program.type(b"\r")


def leave(program: Program) -> None:
    program.type(b"\x03")
    assert program.wait_until(shows("again")), program.emulator.text()
    program.type(b"\x03")
    program.wait_until(lambda _: False)
    assert program.exit_status == 0


def test_a_long_answer_is_in_the_scrollback_once_and_in_order(screen: Screen, serve: Serve) -> None:
    server = serve(Scenario(turns=(Turn((Text(LONG),)), Turn((Text(LIST + "\n\nThat is all."),)))))
    program, emulator = start(screen, server, "--inline")
    send(program, "tell me")
    assert program.wait_until(shows("Paragraph 59")), emulator.text()
    send(program, "and more")
    assert program.wait_until(shows("That is all.")), emulator.text()
    program.wait_for_quiet()
    whole = emulator.whole()
    wanted = [
        "$ before the program",
        "❯ tell me",
        *(f"Paragraph {number} of the answer." for number in range(60)),
        "❯ and more",
        *(f"• item {number}" for number in range(40)),
        "That is all.",
    ]
    lines = [line.strip() for line in whole.splitlines()]
    assert [line for line in lines if line in wanted] == wanted
    # There is one prompt, below everything else.
    assert whole.count("What should I do?") == 1
    assert whole.splitlines()[-3].startswith(" ❯ What should I do?")
    leave(program)
    whole = emulator.whole()
    assert "That is all." in whole
    assert "What should I do?" not in whole
    assert whole.splitlines()[-1].startswith("Continue with: ")
    assert b"\x1b[?1049l\x1b[?25h" not in written(program)


def test_a_dialog_grows_and_goes_without_a_trace(screen: Screen, serve: Serve) -> None:
    call = ToolCall("Bash", {"command": "touch made"})
    server = serve(Scenario(turns=(Turn((Text("I make it."), call)), Turn((Text("Made."),)))))
    program, emulator = start(screen, server, "--inline", "--sandbox", "off")
    send(program, "make it")
    assert program.wait_until(shows("Run this command?")), emulator.text()
    assert program.wait_until(shows("waiting for your answer")), emulator.text()
    program.listen(0.3)
    program.type(b"1")
    assert program.wait_until(shows("Made.")), emulator.text()
    program.wait_for_quiet()
    whole = emulator.whole()
    assert "Run this command?" not in whole
    assert "waiting for your answer" not in whole
    assert whole.count("I make it.") == whole.count("● Bash touch made") == 1
    assert whole.index("❯ make it") < whole.index("I make it.") < whole.index("Made.")


def test_the_transcript_takes_the_alternate_screen_and_gives_it_back(
    screen: Screen, serve: Serve
) -> None:
    server = serve(Scenario(turns=(Turn((Text("A needle."),)), Turn((Text("A thread."),)))))
    program, emulator = start(screen, server, "--inline")
    send(program, "sew")
    assert program.wait_until(lambda e: "needle" in e.text() and "esc to" not in e.text())
    before = emulator.whole()
    program.type(b"\x0f")
    assert program.wait_until(shows("/ search")), emulator.text()
    assert emulator.is_alternate
    assert b"\x1b[?1003h" in written(program)
    program.type(b"q")
    assert program.wait_until(lambda e: "What should" in e.text() and not e.is_alternate)
    program.wait_for_quiet()
    assert emulator.whole() == before
    assert written(program).rindex(b"\x1b[?1003l") > written(program).rindex(b"\x1b[?1003h")
    send(program, "more")
    assert program.wait_until(shows("thread")), emulator.text()
    assert emulator.whole().count("A needle.") == 1


def test_other_sizes_keep_one_prompt_and_every_word(screen: Screen, serve: Serve) -> None:
    server = serve(Scenario(turns=(Turn((Text(LIST),)),)))
    program, emulator = start(screen, server, "--inline")
    send(program, "list")
    assert program.wait_until(shows("item 39")), emulator.text()
    for columns, rows in ((100, ROWS), (100, 30), (60, 30)):
        program.resize(columns, rows)
        program.type(b"x")
        assert program.wait_until(shows("❯ x")), emulator.text()
        assert program.wait_until(shows("─" * columns)), emulator.text()
        program.type(b"\x15")
        assert program.wait_until(shows("What should I do?")), emulator.text()
    program.wait_for_quiet()
    whole = emulator.whole()
    assert whole.count("What should I do?") == 1
    assert all(whole.count(f"• item {number}\n") == 1 for number in range(40))


def test_the_setting_chooses_it_and_a_signal_leaves_the_conversation(
    screen: Screen, serve: Serve, fresh_home: Path
) -> None:
    settings = fresh_home / ".agent" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"screen": "inline"}))
    stalled = Turn((Text("Begun and not ended."), ToolCall("Bash", {"command": "touch made"})))
    program, emulator = start(screen, serve(Scenario(turns=(stalled,))), "--sandbox", "off")
    send(program, "begin")
    assert program.wait_until(shows("Run this command?")), emulator.text()
    # The dialog does not wait for the card behind it to show that it waits.
    assert program.wait_until(shows("● Bash touch made")), emulator.text()
    os.kill(program.pid, signal.SIGTERM)
    program.wait_until(lambda _: False)
    assert program.exit_status == 143
    whole = emulator.whole()
    assert "Begun and not ended." in whole
    assert "● Bash touch made" in whole
    assert "Run this command?" not in whole


def test_a_continued_conversation_is_shown_in_the_scrollback(screen: Screen, serve: Serve) -> None:
    server = serve(Scenario(turns=(Turn((Text(LIST),)),)))
    program, _ = start(screen, server, "--inline")
    send(program, "list")
    assert program.wait_until(shows("item 39"))
    program.wait_for_quiet()
    leave(program)
    program, emulator = start(screen, server, "--inline", "-c")
    assert program.wait_until(shows("item 39")), emulator.text()
    program.wait_for_quiet()
    whole = emulator.whole()
    assert all(whole.count(f"• item {number}\n") == 1 for number in range(40))
    assert whole.index("$ before") < whole.index("❯ list") < whole.index("item 0")
