"""Runs one program to its end, with bounded output and a timeout; leaves no process behind.

`run_program` waits in the event loop, `run_blocking` in a thread; `run_in_foreground` gives the
program the terminal.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final

from msgspec import Struct

from permissions.base.process.child_process import ChildProcess
from permissions.base.process.spawn import RETRY_S, Launch, releasing_start, spawn

CHUNK_BYTES: Final = 64 * 1024

OnFirstLine = Callable[[bytes], float | None]
"""Receives a line without its line break; returns the seconds that are left, or None for no
change."""


class RunLimits(Struct, frozen=True):
    """Limits of one run."""

    timeout_s: float | None
    """After this the program and its descendants are ended; None waits forever."""
    grace_s: float = 0.0
    """Seconds between TERM and KILL; 0 sends KILL at once."""
    stdout_bytes: int = 4 * 1024 * 1024
    """Further output is read and dropped; 0 gives the program the null device."""
    stderr_bytes: int = 256 * 1024
    """The same for standard error."""
    stops_at_limit: bool = False
    """Whether more than `stdout_bytes` ends the program."""
    drain_s: float | None = None
    """How long output may still arrive after the exit; None waits until no process can write it."""
    leaves_descendants: bool = False
    """Whether its descendants may continue when it exits by itself."""


class ProcessResult(Struct, frozen=True):
    """How a program ended."""

    exit_code: int | None
    """None: it did not exit by itself, or its status is lost. Negative: ended by that signal."""
    stdout: bytes
    stderr: bytes
    stdout_dropped: int = 0
    """Bytes beyond the limit, read and dropped."""
    timed_out: bool = False
    was_stopped: bool = False
    """Ended early: at the limit of its output, or because `is_enough` returned true."""


async def run_program(
    program: Launch,
    limits: RunLimits,
    *,
    on_first_line: OnFirstLine | None = None,
    is_enough: Callable[[bytes], bool] | None = None,
) -> ProcessResult:
    """Run a program to its end.

    Args:
        on_first_line: Called once with the first complete line of standard output; its return value
            replaces the timeout.
        is_enough: Called with each chunk of standard output; true ends the program.

    Raises:
        CannotStart: there is no such program, it may not be run, or the directory is gone.
        asyncio.CancelledError: after the program and its descendants were ended.
    """
    timer = asyncio.timeout(limits.timeout_s)
    run = _Run(limits, timer, on_first_line, is_enough)
    wait_s = RETRY_S if limits.timeout_s is None else min(limits.timeout_s, RETRY_S)
    child = await ChildProcess.start(
        program,
        stdout=subprocess.PIPE if limits.stdout_bytes else subprocess.DEVNULL,
        stderr=subprocess.PIPE if limits.stderr_bytes else subprocess.DEVNULL,
        wait_s=wait_s,
        on_exit=run.on_exit,
    )
    try:
        run.connect(child, program.stdin)
        try:
            async with timer:
                await run.end_event.wait()
        except TimeoutError:
            await child.end(limits.grace_s)
            return run.result(None, timed_out=True)
        except asyncio.CancelledError:
            await child.end(limits.grace_s)
            raise
        if run.was_stopped:
            await child.end(limits.grace_s)
            return run.result(None)
        if not limits.leaves_descendants:
            child.kill_group()
        return run.result(child.reap())
    finally:
        child.release()


def run_blocking(program: Launch, *, timeout_s: float | None) -> ProcessResult:
    """Run a program to its end, for a thread; all of its output is returned.

    Raises:
        CannotStart: there is no such program, it may not be run, or the directory is gone.
    """
    with releasing_start(program):
        process = spawn(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        with process:
            return _communicate(process, program.stdin, timeout_s)
    finally:
        if program.confined_run is not None:
            program.confined_run.finish()


def _communicate(
    process: subprocess.Popen[bytes], stdin: bytes, timeout_s: float | None
) -> ProcessResult:
    try:
        stdout, stderr = process.communicate(stdin or None, timeout_s)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        return ProcessResult(None, b"", b"", timed_out=True)
    return ProcessResult(process.returncode, stdout, stderr)


def run_in_foreground(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run a program on the terminal and return its exit status, negative for a signal.

    Meanwhile SIGINT and SIGQUIT do not end this process. Only for the main thread.

    Raises:
        OSError: it cannot be started.
    """
    handlers = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGQUIT)]
    try:
        for number, _ in handlers:
            # A handler and not SIG_IGN, which the program would inherit.
            signal.signal(number, lambda *_: None)
        return subprocess.run(argv, env=env, check=False).returncode
    finally:
        for number, handler in handlers:
            signal.signal(number, handler)


class _Run:
    """The pipes of one running program, and the condition for its end."""

    def __init__(
        self,
        limits: RunLimits,
        timer: asyncio.Timeout,
        on_first_line: OnFirstLine | None,
        is_enough: Callable[[bytes], bool] | None,
    ) -> None:
        self.end_event = asyncio.Event()
        self.was_stopped = False
        self._limits = limits
        self._timer = timer
        self._on_first_line = on_first_line
        self._is_enough = is_enough
        self._loop = asyncio.get_running_loop()
        self._has_exited = False
        self._open_outputs = 0
        self._stdout = _Head(limits.stdout_bytes)
        self._stderr = _Head(limits.stderr_bytes)
        self._unsent = memoryview(b"")

    def connect(self, child: ChildProcess, stdin: bytes) -> None:
        """Read the child's output and write its input from now on."""
        for pipe, on_readable in ((child.stdout, self._on_stdout), (child.stderr, self._on_stderr)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._loop.add_reader(pipe.fileno(), on_readable, pipe)
                self._open_outputs += 1
        if child.stdin is not None:
            self._unsent = memoryview(stdin)
            os.set_blocking(child.stdin.fileno(), False)
            self._feed(child.stdin)
            if not child.stdin.closed:
                self._loop.add_writer(child.stdin.fileno(), self._on_writable, child.stdin)

    def on_exit(self) -> None:
        """End the run once its output is read, or `drain_s` is over."""
        self._has_exited = True
        if not self._open_outputs:
            self.end_event.set()
        elif self._limits.drain_s is not None:
            self._move_deadline(None)
            self._loop.call_later(self._limits.drain_s, self.end_event.set)

    def result(self, exit_code: int | None, *, timed_out: bool = False) -> ProcessResult:
        """Return what the program printed, and how it ended."""
        return ProcessResult(
            exit_code=exit_code,
            stdout=bytes(self._stdout.data),
            stderr=bytes(self._stderr.data),
            stdout_dropped=self._stdout.dropped_bytes,
            timed_out=timed_out,
            was_stopped=self.was_stopped,
        )

    def _on_stdout(self, pipe: IO[bytes]) -> None:
        chunk = self._read(pipe)
        if not chunk:
            return
        self._stdout.add(chunk)
        if self._on_first_line is not None:
            self._find_first_line(self._on_first_line)
        if (self._limits.stops_at_limit and self._stdout.dropped_bytes) or (
            self._is_enough is not None and self._is_enough(chunk)
        ):
            self.was_stopped = True
            self._loop.remove_reader(pipe.fileno())
            self.end_event.set()

    def _find_first_line(self, notify: OnFirstLine) -> None:
        newline = self._stdout.data.find(b"\n")
        if newline < 0:
            return
        self._on_first_line = None
        seconds_left = notify(bytes(self._stdout.data[:newline]))
        if seconds_left is not None and not self._has_exited:
            self._move_deadline(self._loop.time() + seconds_left)

    def _move_deadline(self, when_s: float | None) -> None:
        """Let the wait take until then; nothing if it is over already."""
        with contextlib.suppress(RuntimeError):
            self._timer.reschedule(when_s)

    def _on_stderr(self, pipe: IO[bytes]) -> None:
        self._stderr.add(self._read(pipe) or b"")

    def _read(self, pipe: IO[bytes]) -> bytes | None:
        """Return the next chunk; None if there is none yet, or at the end."""
        try:
            chunk = os.read(pipe.fileno(), CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            chunk = b""
        if chunk:
            return chunk
        self._loop.remove_reader(pipe.fileno())
        self._open_outputs -= 1
        if not self._open_outputs and self._has_exited:
            self.end_event.set()
        return None

    def _on_writable(self, stdin: IO[bytes]) -> None:
        descriptor = stdin.fileno()
        self._feed(stdin)
        if stdin.closed:
            self._loop.remove_writer(descriptor)

    def _feed(self, stdin: IO[bytes]) -> None:
        """Write as much as fits; close at the end, or if the program closed its input."""
        try:
            while self._unsent:
                byte_count = os.write(stdin.fileno(), self._unsent[:CHUNK_BYTES])
                self._unsent = self._unsent[byte_count:]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._unsent = self._unsent[:0]
        with contextlib.suppress(OSError):
            stdin.close()


class _Head:
    """The head of a stream; counts the bytes beyond its limit."""

    def __init__(self, limit_bytes: int) -> None:
        self.data = bytearray()
        self.dropped_bytes = 0
        self._limit = limit_bytes

    def add(self, chunk: bytes) -> None:
        """Add another chunk of the stream."""
        free = self._limit - len(self.data)
        self.data += chunk[:free]
        self.dropped_bytes += max(0, len(chunk) - free)
