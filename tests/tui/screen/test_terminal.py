"""The program in a pseudo-terminal: the screen is right, the terminal comes back, idle is idle."""

from __future__ import annotations

import os
import select
import signal
import termios
import time
from pathlib import Path

import pyte
import pytest

from tests.tui.screen.pty_session import PtySession

pytestmark = pytest.mark.pty

APP = Path(__file__).with_name("pty_app.py")
COOKED = termios.ECHO | termios.ICANON | termios.ISIG
LEFT = ("\x1b[?1049l", "\x1b[?25h", "\x1b[<u", "\x1b[?2004l", "\x1b[?7h", "\x1b[?1004l")
"""What gives the terminal back: screen, cursor, keyboard, paste, line wrap, focus reports."""


def _cells(screen: pyte.Screen) -> list[list[pyte.screens.Char]]:
    return [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]


def _assert_given_back(session: PtySession) -> None:
    entered = session.written.index("\x1b[?1049h")
    assert [code for code in LEFT if session.written.rfind(code) < entered] == []


def test_the_terminal_comes_back_after_the_end() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        assert not session.local_flags() & COOKED
        session.send("\x04")
        session.wait_until(lambda: LEFT[0] in session.written)
        session.wait_until(lambda: session.local_flags() == session.first_flags)
        assert session.wait_for_exit() == 7
        _assert_given_back(session)


def test_the_terminal_comes_back_after_a_crash() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        session.send("boom")
        assert session.wait_for_exit() == 1
        _assert_given_back(session)
        assert "RuntimeError: boom" in session.text
        assert "a word nobody sees" not in session.text, "values of variables stay inside"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda n: n.name)
def test_the_terminal_comes_back_after_a_signal(number: signal.Signals) -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        os.kill(session.pid, number)
        assert session.wait_for_exit() == 128 + number
        _assert_given_back(session)


def test_a_terminal_that_closes_ends_the_program() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        session.send("typing")
        session.hang_up()
        assert session.wait_for_exit() == 128 + signal.SIGHUP


def test_a_terminal_that_never_answers_is_served_without_brackets() -> None:
    with PtySession(APP, answers_queries=False, env={"TERM": "screen"}) as session:
        session.wait_for_text("ready")
        session.send("hi")
        session.wait_for_text("<hi>")
        assert "\x1b[?2026h" not in session.written
        session.send("\x04")
        assert session.wait_for_exit() == 7


def test_an_answering_terminal_gets_one_bracket_per_frame() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        session.send("\x1b[14~")  # F4
        session.wait_for_text("line 59")
        assert session.written.count("\x1b[?2026h") == session.written.count("\x1b[?2026l") > 0
        assert "\x1b[2J" not in session.written


def test_odd_bytes_neither_type_nor_crash() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        os.write(session.fd, b"a\xff\xfe\x1b]11;rgb:0000/0000/0000\x1b\\\x1b[?62;4c\x1b[97;1:3u")
        session.send("\x1b[98;1:1u")
        session.wait_for_text("b>")
        assert "rgb" not in session.text
        assert "<a" in session.text


def test_a_key_costs_few_bytes() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        for typed in ("a", "ab"):
            session.send(typed[-1])
            session.wait_for_text(f"<{typed}>")
        start = len(session.written)
        session.send("c")
        session.wait_for_text("<abc>")
        assert len(session.written) - start < 200


def test_every_key_of_a_resize_storm_arrives() -> None:
    typed = "abcdefghij" * 3
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        for number, key in enumerate(typed):
            session.resize(70 + number % 20, 20 + number % 5)
            os.kill(session.pid, signal.SIGWINCH)
            session.send(key)
        session.resize(80, 24)
        os.kill(session.pid, signal.SIGWINCH)
        session.send("!")
        session.wait_until(lambda: f"<{typed}!>" in session.text)
        # A key may overtake a resize: once the field's frame is drawn at the final size,
        # the last key makes the status line say it.
        session.wait_until(
            lambda: any(len(row) == 80 and row[-1] == "▎" for row in session.text.splitlines())
        )
        session.send("\x7f")
        session.wait_until(lambda: f"<{typed}> 80" in session.text)


def test_a_window_that_shrinks_and_grows_back_is_whole_again() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        # What is typed is answered after the first layout is on the screen.
        session.send("a")
        session.wait_for_text("<a>")
        session.send("b")
        session.wait_for_text("<ab>")
        whole = session.text
        session.resize(20, 5)
        session.resize(80, 24)
        os.kill(session.pid, signal.SIGWINCH)
        session.wait_until(lambda: session.text == whole)


def test_suspended_it_gives_the_terminal_back_and_returns() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        entered = len(session.written)
        os.kill(session.pid, signal.SIGTSTP)
        session.wait_until_stopped()
        session.wait_until(lambda: LEFT[0] in session.written[entered:])
        assert session.local_flags() == session.first_flags
        session.screen.reset()
        os.kill(session.pid, signal.SIGCONT)
        session.wait_for_text("line 0")
        session.send("back")
        session.wait_for_text("<back>")
        session.send("\x04")
        assert session.wait_for_exit() == 7
        assert session.written.count("\x1b[?1049h") == session.written.count("\x1b[?1049l") == 2


def test_another_program_may_have_the_terminal_for_a_while() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        session.send("\x1b[17~")  # F6
        session.wait_until(lambda: "another program" in session.written)
        # Everything is drawn again on the new screen, not only what has changed.
        session.wait_until(lambda: "line 0" in "".join(session.written.split("\x1b[?1049h")[2:]))
        session.send("on")
        session.wait_for_text("<on>")


def test_stopped_and_continued_it_draws_again_and_reads_on() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        os.kill(session.pid, signal.SIGSTOP)
        session.wait_until_stopped()
        session.screen.reset()
        os.kill(session.pid, signal.SIGCONT)
        session.wait_for_text("line 0")
        session.send("one")
        session.wait_for_text("<one>")


def test_a_burst_of_scrolling_ends_where_textuals_own_output_does() -> None:
    pictures = []
    for renderer in ("textual", "cells"):
        with PtySession(APP, width=100, height=30, env={"AGENT_TUI_RENDERER": renderer}) as session:
            session.wait_for_text("ready")
            session.send("\x1b[14~" + "\x1b[A" * 20 + "\x1b[B" * 7 + "\x1b[15~")
            session.wait_for_text("at 2")
            session.send("hello")
            session.wait_for_text("<hello>")
            session.send("\x1b[15~")
            session.wait_for_text("at 2")
            session.read_quiet(0.3)
            pictures.append(_cells(session.screen))
    assert pictures[0] == pictures[1]


def test_a_terminal_that_does_not_read_gets_the_newest_frame_not_all(tmp_path: Path) -> None:
    done = tmp_path / "done"
    script = APP.with_name("pty_stream_app.py")
    with PtySession(script, width=100, height=30, env={"DONE_FILE": str(done)}) as session:
        session.wait_for_text("ready")
        start = len(session.written)
        session.send("x")
        until = time.monotonic() + 20
        while not done.exists():
            assert time.monotonic() < until, "the program waits for its terminal"
            select.select([], [], [], 0.05)
        session.wait_for_text("done coalesced=True slow=True few=True")
        assert len(session.written) - start < 60_000


def test_a_line_known_to_be_slow_gets_no_more_than_it_takes(tmp_path: Path) -> None:
    script = APP.with_name("pty_stream_app.py")
    env = {"DONE_FILE": str(tmp_path / "done"), "AGENT_TUI_LINE_BYTES_PER_S": "20000"}
    with PtySession(script, width=100, height=30, env=env) as session:
        session.wait_for_text("ready")
        start, started_s = len(session.written), time.monotonic()
        session.send("x")
        session.wait_for_text("done coalesced=True slow=True few=True")
        elapsed_s = time.monotonic() - started_s
        # A frame of the whole screen, 3 kB, may be on its way.
        assert len(session.written) - start < 20_000 * elapsed_s + 8_000


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_idle_is_no_work_at_all() -> None:
    with PtySession(APP) as session:
        session.wait_for_text("ready")
        # A busy machine takes a while to the last frame of the start.
        for _ in range(20):
            before = _switches(session.pid)
            seen = session.read_quiet(1.0), _switches(session.pid) - before
            if seen == ("", 0):
                break
        assert seen == ("", 0)


def _switches(pid: int) -> int:
    """How often the program's threads gave up or lost the processor so far."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        for line in (task / "status").read_text().splitlines():
            if "voluntary_ctxt_switches" in line:
                total += int(line.split()[1])
    return total
