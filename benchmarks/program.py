"""One program in a pseudo-terminal: sends keys on a schedule and records output with times."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from benchmarks.terminal import Emulator, replies

_READ_BYTES: Final = 1 << 16
_SIGNALS_OF_A_TERMINAL: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)
_PROC: Final = Path("/proc")
"""Information about processes on Linux; on macOS, which lacks it, `ps` is used."""


@dataclass(frozen=True, slots=True)
class Output:
    """The program wrote something."""

    at_s: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Resized:
    """The terminal was resized."""

    at_s: float
    columns: int
    rows: int


@dataclass(frozen=True, slots=True)
class Typed:
    """Bytes were typed."""

    at_s: float
    data: bytes


TerminalEvent = Output | Resized | Typed
Observer = Callable[[TerminalEvent, Emulator], None]


@dataclass(frozen=True, slots=True)
class Step:
    """One action, and its time from the start of the schedule."""

    after_s: float
    keys: bytes = b""
    size: tuple[int, int] | None = None
    """Columns and rows."""


class ProgramEndedError(Exception):
    """The program ended during a measurement."""

    def __init__(self, exit_status: int, screen: str) -> None:
        super().__init__(f"the program ended with status {exit_status}; its screen:\n{screen}")


@dataclass(slots=True)
class Program:
    """A running program and the screen of its terminal.

    Reading, writing and waiting happen in one thread, so that a time stamp is taken as soon as the
    output can be read. While a schedule is played nothing is emulated; `review` does so afterwards.
    Times are seconds of the monotonic clock.
    """

    pid: int
    terminal: int
    emulator: Emulator
    started_s: float
    events: list[TerminalEvent] = field(default_factory=list)
    exit_status: int | None = None
    """The result of `os.waitstatus_to_exitcode`; None while it runs."""
    observer: Observer | None = None
    _unseen: deque[TerminalEvent] = field(default_factory=deque)

    @classmethod
    def spawn(
        cls,
        command: Sequence[str],
        *,
        environment: Mapping[str, str],
        directory: Path,
        columns: int = 120,
        rows: int = 40,
    ) -> Program:
        """Start a command with exactly this environment."""
        started_s = time.monotonic()
        reading, writing = os.pipe()
        pid, terminal = pty.fork()
        if pid == 0:
            try:
                # The parent may ignore these signals (like a shell's background jobs), which
                # children inherit; a user's shell does not.
                for number in _SIGNALS_OF_A_TERMINAL:
                    signal.signal(number, signal.SIG_DFL)
                os.chdir(directory)
                # Wait until the terminal is set up, before the program looks at it.
                os.close(writing)
                os.read(reading, 1)
                os.execvpe(command[0], list(command), dict(environment))
            finally:
                os._exit(127)
        _set_size(terminal, columns, rows)
        _switch_echo_off(terminal)
        os.set_blocking(terminal, False)
        os.close(reading)
        os.close(writing)
        return cls(pid, terminal, Emulator(columns, rows), started_s)

    def type(self, keys: bytes) -> float:
        """Type bytes at once; return the time of writing."""
        at_s = time.monotonic()
        self._note(Typed(at_s, keys))
        while keys:
            try:
                keys = keys[os.write(self.terminal, keys) :]
            except BlockingIOError:
                self._read_for(0.01)
            except OSError:
                break
        return at_s

    def resize(self, columns: int, rows: int) -> None:
        """Resize the terminal; the program gets a signal."""
        self._note(Resized(time.monotonic(), columns, rows))
        _set_size(self.terminal, columns, rows)

    def play(self, steps: Sequence[Step], *, rest_s: float = 0.0) -> list[float]:
        """Perform steps in order, then listen for `rest_s`; return the times of typing."""
        begin_s = time.monotonic()
        typed_s = []
        for step in steps:
            self._read_until(begin_s + step.after_s)
            if step.size is not None:
                self.resize(*step.size)
            if step.keys:
                typed_s.append(self.type(step.keys))
        self._read_until(time.monotonic() + rest_s)
        return typed_s

    def listen(self, seconds: float) -> None:
        """Record output for some time without emulating it."""
        self._read_until(time.monotonic() + seconds)

    def wait_until(self, condition: Callable[[Emulator], bool], *, timeout_s: float = 30.0) -> bool:
        """Emulate output until the screen satisfies a condition; return False on a timeout."""
        limit_s = time.monotonic() + timeout_s
        while time.monotonic() < limit_s:
            self.review()
            if condition(self.emulator):
                return True
            if self.exit_status is not None:
                return False
            self._read_for(0.02)
        self.review()
        return condition(self.emulator)

    def wait_for_quiet(self, quiet_s: float = 0.4, *, timeout_s: float = 5.0) -> float:
        """Wait until there is no output for `quiet_s`; return the time of the last output."""
        limit_s = time.monotonic() + timeout_s
        while time.monotonic() < limit_s and self._read_for(quiet_s):
            pass
        self.review()
        times_s = [event.at_s for event in self.events if isinstance(event, Output)]
        return times_s[-1] if times_s else self.started_s

    def review(self, observer: Observer | None = None) -> None:
        """Emulate what was recorded since the last call; an observer sees the screen after each.

        The default is `self.observer`, because replies to cursor queries call `review` as well.
        """
        observer = observer or self.observer
        while self._unseen:
            event = self._unseen.popleft()
            match event:
                case Output(_, data):
                    self.emulator.write(data)
                case Resized(_, columns, rows):
                    self.emulator.resize(rows, columns)
                case Typed():
                    pass
            if observer is not None:
                observer(event, self.emulator)

    def cpu_s(self) -> float:
        """Return the processor time in s that the program's threads used, without children.

        Raises:
            ProgramEndedError: it runs no more.
        """
        return self._figures()[0]

    def memory_mb(self) -> float:
        """Return the program's resident memory, in units of 1024 × 1024 bytes.

        Raises:
            ProgramEndedError: it runs no more.
        """
        return self._figures()[1]

    def close(self) -> int:
        """Send SIGHUP, and SIGKILL after three seconds; return the exit status."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGHUP)
        limit_s = time.monotonic() + 3.0
        while self.exit_status is None and time.monotonic() < limit_s:
            self._read_for(0.05)
            self._reap(os.WNOHANG)
        if self.exit_status is None:
            os.kill(self.pid, signal.SIGKILL)
            self._reap(0)
        os.close(self.terminal)
        assert self.exit_status is not None
        return self.exit_status

    def _figures(self) -> tuple[float, float]:
        self._reap(os.WNOHANG)
        if self.exit_status is not None:
            self.review()
            raise ProgramEndedError(self.exit_status, self.emulator.text())
        return _process_figures(self.pid)

    def _note(self, event: TerminalEvent) -> None:
        self.events.append(event)
        self._unseen.append(event)

    def _read_until(self, limit_s: float) -> None:
        while (left_s := limit_s - time.monotonic()) > 0:
            if not self._read_for(left_s) and self.exit_status is not None:
                return

    def _read_for(self, seconds: float) -> bool:
        """Read once, waiting for at most this long; return False if there was no output."""
        if self.exit_status is not None:
            return False
        ready, _, _ = select.select([self.terminal], [], [], seconds)
        if not ready:
            return False
        at_s = time.monotonic()
        try:
            data = os.read(self.terminal, _READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            # On Linux, reading fails once no process has the terminal open.
            data = b""
        if not data:
            self._reap(0)
            return False
        self._note(Output(at_s, data))
        self._reply(data)
        return True

    def _reply(self, data: bytes) -> None:
        if b"\x1b[6n" in data:
            self.review()
        cursor = self.emulator.cursor
        if answer := replies(data, (cursor.y, cursor.x)):
            with contextlib.suppress(OSError):
                os.write(self.terminal, answer)

    def _reap(self, options: int) -> None:
        if self.exit_status is not None:
            return
        pid, status = os.waitpid(self.pid, options)
        if pid:
            self.exit_status = os.waitstatus_to_exitcode(status)


def _set_size(terminal: int, columns: int, rows: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _switch_echo_off(terminal: int) -> None:
    """Keep the terminal from echoing keys that are typed before the program is ready."""
    attributes = termios.tcgetattr(terminal)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, attributes)


def _process_figures(pid: int) -> tuple[float, float]:
    """Return (processor seconds, resident memory in MB) of one process."""
    if _PROC.is_dir():
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        cpu_s = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        pages = int((_PROC / str(pid) / "statm").read_text(encoding="utf-8").split()[1])
        return cpu_s, pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)
    fields = subprocess.run(
        ["ps", "-o", "time=,rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    cpu_s = 0.0
    for part in fields[0].replace("-", ":").split(":"):
        cpu_s = cpu_s * 60 + float(part)
    return cpu_s, int(fields[1]) / 1024
