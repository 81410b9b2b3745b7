"""Writing without waiting, and the figures."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import pytest

from tui.screen.line_pacing import LinePacing, line_speed
from tui.screen.output import TerminalOutput
from tui.screen.output_stats import SLOW_DRAIN_S, SLOW_MEMORY_S, OutputMeasure, figures_text

FULL = "x" * 300_000
"""More than a pipe takes at once."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def _never() -> None:
    raise AssertionError("the terminal is not lost")


def test_a_small_write_goes_out_at_once(pipe: tuple[int, int]) -> None:
    output = TerminalOutput(pipe[1], on_lost=_never)
    output.write("hé")
    assert not output.is_busy
    assert os.read(pipe[0], 10) == "hé".encode()
    assert "terminal-output" not in {thread.name for thread in threading.enumerate()}
    output.close()


def test_a_slow_terminal_never_holds_up_the_writer(pipe: tuple[int, int]) -> None:
    output = TerminalOutput(pipe[1], on_lost=_never)
    drained = threading.Event()
    output.write(FULL)
    output.write("end")
    was_busy = output.is_busy
    output.call_when_drained(drained.set)
    received = b""
    while not received.endswith(b"end"):
        received += os.read(pipe[0], 65536)
    assert drained.wait(5)
    assert was_busy
    assert received == (FULL + "end").encode()
    assert not output.is_busy
    assert output.meter.figures().total_bytes == len(received)
    output.close()


def test_a_terminal_takes_a_whole_frame_without_a_thread() -> None:
    master, slave = os.openpty()
    output = TerminalOutput(slave, on_lost=_never)
    output.write("x" * 4000)
    assert not output.is_busy
    # The kernel may hand it over in pieces.
    received = 0
    while received < 4000:
        received += len(os.read(master, 10_000))
    assert received == 4000
    assert os.get_blocking(slave)
    output.close()
    os.close(slave)
    os.close(master)


def test_what_a_terminal_does_not_take_at_once_follows_in_order() -> None:
    master, slave = os.openpty()
    output = TerminalOutput(slave, on_lost=_never)
    text = "".join(f"{number:07}," for number in range(100_000))
    output.write(text)
    output.write("end")
    assert output.is_busy
    received = b""
    while not received.endswith(b"end"):
        received += os.read(master, 65536)
    assert received == (text + "end").encode()
    output.close()
    os.close(slave)
    os.close(master)


def test_drained_is_called_at_once_when_nothing_waits(pipe: tuple[int, int]) -> None:
    output = TerminalOutput(pipe[1], on_lost=_never)
    called: list[bool] = []
    output.call_when_drained(lambda: called.append(True))
    assert called == [True]
    output.close()


def test_a_terminal_that_goes_is_reported_once() -> None:
    reader, writer = os.pipe()
    lost = threading.Semaphore(0)
    output = TerminalOutput(writer, on_lost=lambda: lost.release())
    output.write(FULL)
    os.close(reader)
    assert lost.acquire(timeout=5)
    output.write("more")
    output.write(FULL)
    output.close()
    assert not lost.acquire(blocking=False)
    os.close(writer)


def test_figures_of_the_last_ten_seconds() -> None:
    now = [100.0]
    meter = OutputMeasure(lambda: now[0])
    meter.wrote(500, 0.001)
    meter.frame()
    now[0] = 105.0
    meter.wrote(1000, 0.001)
    meter.frame()
    assert (meter.figures().bytes_per_s, meter.figures().frames_per_s) == (150.0, 0.2)
    now[0] = 112.0
    assert meter.figures().bytes_per_s == 100.0
    assert meter.figures().total_bytes == 1500


def test_a_write_that_waited_makes_the_line_slow_for_a_while() -> None:
    now = [0.0]
    meter = OutputMeasure(lambda: now[0])
    meter.wrote(1000, SLOW_DRAIN_S * 2)
    assert meter.is_slow
    assert meter.figures().drain_bytes_per_s == 10_000
    now[0] = SLOW_MEMORY_S + 1
    assert not meter.is_slow


@pytest.mark.parametrize(
    ("value", "speed"), [("9600", 9600.0), ("", None), ("fast", None), ("-1", None), ("inf", None)]
)
def test_the_environment_may_give_the_speed_of_the_line(value: str, speed: float | None) -> None:
    assert line_speed({"AGENT_TUI_LINE_BYTES_PER_S": value}) == speed


def test_a_line_of_known_speed_is_free_when_all_has_passed() -> None:
    now = [5.0]
    pace = LinePacing(1000, lambda: now[0])
    pace.record_sent(500)
    pace.record_sent(250)
    waits = [pace.wait_s]
    now[0] = 5.5
    waits.append(pace.wait_s)
    now[0] = 9.0
    waits.append(pace.wait_s)
    assert waits == [0.75, 0.25, 0.0]
    assert pace.is_slow


def test_a_line_of_unknown_speed_is_always_free() -> None:
    pace = LinePacing(None, lambda: 0.0)
    pace.record_sent(10**9)
    assert (pace.wait_s, pace.is_slow) == (0.0, False)


def test_the_figures_are_reported_in_a_line() -> None:
    now_s = [100.0]
    meter = OutputMeasure(lambda: now_s[0])
    for _ in range(20):
        meter.wrote(600, 0.001)
        meter.frame()
    assert figures_text(meter.figures()) == (
        "output 1.2 kB/s in 2.0 frames/s over the last 10 s, 12.0 kB in 20 frames so far"
    )
    meter.count_coalesced()
    meter.wrote(500, 0.5)
    assert figures_text(meter.figures()).endswith(
        "1 replaced by newer ones, the terminal accepted 1.0 kB/s at most, "
        "it is slow, so animations are off"
    )
