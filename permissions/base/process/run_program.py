"""Run one program: own session, bounded output, a parent-side timer, nothing left behind.

The run ends when the program exits and its output was drained for a moment, whoever else still
holds its pipes. On a timeout or a cancellation the whole process group gets TERM, then KILL; should
this process be killed, its guardian sees to that.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import threading
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from msgspec import Struct
from msgspec.structs import replace

from permissions.base.process import descriptor_limits as room
from permissions.base.process.descendants import MARK, signal_marked
from permissions.base.process.guardian import forget, started, watch

STDOUT_LIMIT_BYTES: Final = 4 * 1024 * 1024
STDERR_LIMIT_BYTES: Final = 256 * 1024
DRAIN_S: Final = 0.1
"""How long output may still arrive after the program ended."""
CHUNK_BYTES: Final = 64 * 1024

OnFirstLine = Callable[[bytes], float | None]
"""Takes a line without its end; returns the seconds that are left from now, or None for no
change."""


class CannotStart(Exception):
    """The program could not be started at all; the text says why."""


class NoRoom(CannotStart):
    """It could not be started now; when others have ended it may be."""


class Program(Struct, frozen=True):
    """What to run."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    stdin: bytes


class ProcessResult(Struct, frozen=True):
    """How a program ended."""

    exit_code: int | None
    """None: it did not end by itself, or nobody can say how. Negative: ended by that signal."""
    stdout: bytes
    stderr: bytes
    stdout_dropped: int = 0
    """Bytes beyond the limit, read and thrown away."""
    timed_out: bool = False


async def run_program(
    program: Program,
    *,
    timeout_s: float,
    grace_s: float,
    on_first_line: OnFirstLine | None = None,
) -> ProcessResult:
    """Run a program to its end.

    Args:
        timeout_s: After this the group is ended and the result says `timed_out`.
        grace_s: Between TERM and KILL.
        on_first_line: Called once with the first complete line of standard output; what it returns
            replaces the timeout.

    Raises:
        CannotStart: there is no such program, it may not be run, or the folder is gone.
        asyncio.CancelledError: after the group was ended.
    """
    timer = asyncio.timeout(timeout_s)

    def first_line(line: bytes) -> None:
        seconds_left = on_first_line(line) if on_first_line is not None else None
        if seconds_left is not None and not timer.expired() and not run.exited.is_set():
            timer.reschedule(asyncio.get_running_loop().time() + seconds_left)

    run = await _begin(program, first_line, wait_s=min(timeout_s, room.WAIT_S))
    try:
        try:
            async with timer:
                await run.exited.wait()
        except TimeoutError:
            await run.end_group(grace_s)
            return run.result(timed_out=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await run.drained.wait()
        return run.result(timed_out=False)
    except asyncio.CancelledError:
        await _finish(run.end_group(grace_s))
        raise
    finally:
        run.close()


async def _begin(
    program: Program, on_first_line: Callable[[bytes], None], *, wait_s: float
) -> _Run:
    """Start a program, if need be once there is room for it. Raises CannotStart."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    while True:
        try:
            return _Run(program, on_first_line)
        except NoRoom:
            if not room.raise_descriptor_limit():
                if clock() >= deadline:
                    raise
                await asyncio.sleep(room.POLL_S)


async def _finish(work: Coroutine[object, object, None]) -> None:
    """Await clean-up to its end even if cancellation is asked for again meanwhile."""
    task = asyncio.ensure_future(work)
    while not task.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(task)


class _Run:
    """One running program and its three pipes."""

    def __init__(self, program: Program, on_first_line: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.exited = asyncio.Event()
        self.drained = asyncio.Event()
        self._mark = uuid.uuid4().hex
        _want_exit_statuses()
        self._guarded = f"{MARK}={self._mark}"
        watch(self._guarded)
        try:
            self._process = _spawn(replace(program, env={**program.env, MARK: self._mark}))
        except BaseException:
            forget(self._guarded)
            raise
        started(self._guarded, self._process.pid)
        self._stdout = _Collector(STDOUT_LIMIT_BYTES, on_first_line)
        self._stderr = _Collector(STDERR_LIMIT_BYTES, None)
        self._open_outputs = 2
        self._unsent = memoryview(program.stdin)
        self._exit_fd: int | None = None
        self._watch_exit()
        for pipe, collector in (
            (self._process.stdout, self._stdout),
            (self._process.stderr, self._stderr),
        ):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self._loop.add_reader(pipe.fileno(), self._on_readable, pipe, collector)
        self._start_feeding()

    def result(self, *, timed_out: bool) -> ProcessResult:
        """Reap the program and return what it said."""
        is_known = _has_exit_status(self._process)
        exit_code = self._process.poll()
        return ProcessResult(
            exit_code=None if timed_out or not is_known else exit_code,
            stdout=bytes(self._stdout.kept),
            stderr=bytes(self._stderr.kept),
            stdout_dropped=self._stdout.dropped,
            timed_out=timed_out,
        )

    async def end_group(self, grace_s: float) -> None:
        """TERM the group and what left it, KILL the rest after the grace, wait for the leader."""
        self._signal_group(signal.SIGTERM)
        await asyncio.to_thread(signal_marked, self._mark, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                await self.exited.wait()
        # Also when the leader went quietly: it is not reaped yet, so the group still has its
        # number, and what it started may have ignored TERM.
        self._signal_group(signal.SIGKILL)
        await asyncio.to_thread(signal_marked, self._mark, signal.SIGKILL)
        await self.exited.wait()

    def close(self) -> None:
        """Let go of every descriptor and reap the program if that has not happened.

        What a hook that ended left running on purpose may stay, whatever becomes of this process.
        """
        forget(self._guarded)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None and not pipe.closed:
                self._loop.remove_reader(pipe.fileno())
                self._loop.remove_writer(pipe.fileno())
                with contextlib.suppress(OSError):
                    pipe.close()
        if self._exit_fd is not None:
            self._loop.remove_reader(self._exit_fd)
            os.close(self._exit_fd)
            self._exit_fd = None
        self._process.poll()

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _watch_exit(self) -> None:
        try:
            self._exit_fd = os.pidfd_open(self._process.pid)
        except (AttributeError, OSError):
            # No pidfd here (macOS, old kernels): a thread waits, one of its own, since those of a
            # pool would run out and nobody would hear of the programs beyond them.
            threading.Thread(target=self._wait_in_thread, name="hook exit", daemon=True).start()
            return
        self._loop.add_reader(self._exit_fd, self._on_exit)

    def _wait_in_thread(self) -> None:
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        else:  # macOS before Python 3.13: it can only be reaped at once
            self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it whoever waited
            self._loop.call_soon_threadsafe(self.exited.set)

    def _on_exit(self) -> None:
        if self._exit_fd is not None:
            self._loop.remove_reader(self._exit_fd)
        self.exited.set()

    def _on_readable(self, pipe: IO[bytes], collector: _Collector) -> None:
        try:
            chunk = os.read(pipe.fileno(), CHUNK_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            chunk = b""
        if chunk:
            collector.add(chunk)
            return
        collector.end()
        self._loop.remove_reader(pipe.fileno())
        self._open_outputs -= 1
        if self._open_outputs == 0:
            self.drained.set()

    def _start_feeding(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        os.set_blocking(stdin.fileno(), False)
        self._feed(stdin)
        if not stdin.closed:
            self._loop.add_writer(stdin.fileno(), self._on_writable, stdin)

    def _on_writable(self, stdin: IO[bytes]) -> None:
        descriptor = stdin.fileno()
        self._feed(stdin)
        if stdin.closed:
            self._loop.remove_writer(descriptor)

    def _feed(self, stdin: IO[bytes]) -> None:
        """Write what fits; close at the end, or when the program does not want more."""
        try:
            while self._unsent:
                written = os.write(stdin.fileno(), self._unsent[:CHUNK_BYTES])
                self._unsent = self._unsent[written:]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self._unsent = self._unsent[:0]
        with contextlib.suppress(OSError):
            stdin.close()


class _Collector:
    """Keeps the head of a stream and counts what is beyond the limit."""

    def __init__(self, limit_bytes: int, on_first_line: Callable[[bytes], None] | None) -> None:
        self.kept = bytearray()
        self.dropped = 0
        self._limit = limit_bytes
        self._on_first_line = on_first_line

    def add(self, chunk: bytes) -> None:
        """Take another piece of the stream."""
        room = self._limit - len(self.kept)
        self.kept += chunk[:room]
        self.dropped += max(0, len(chunk) - room)
        if self._on_first_line is not None and (newline := self.kept.find(b"\n")) >= 0:
            notify, self._on_first_line = self._on_first_line, None
            notify(bytes(self.kept[:newline]))

    def end(self) -> None:
        """Say that nothing more comes."""
        self._on_first_line = None


def _spawn(program: Program) -> subprocess.Popen[bytes]:
    try:
        return _popen(program, program.argv)
    except OSError as error:
        if error.errno == errno.ENOEXEC:  # a script without `#!`, which shells run themselves
            return _spawn_script(program)
        kind = NoRoom if error.errno in room.SHORTAGES else CannotStart
        raise kind(_why(error, program)) from error
    except ValueError as error:
        raise CannotStart(str(error)) from error


def _spawn_script(program: Program) -> subprocess.Popen[bytes]:
    try:
        return _popen(program, ("/bin/sh", *program.argv))
    except OSError as error:
        raise CannotStart(_why(error, program)) from error


def _popen(program: Program, argv: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(program.env),
        cwd=program.cwd,
        start_new_session=True,
        bufsize=0,
    )


def _why(error: OSError, program: Program) -> str:
    if isinstance(error, FileNotFoundError) and not os.path.isdir(program.cwd):
        return f"the folder {program.cwd} is gone"
    if isinstance(error, FileNotFoundError):
        return f"{program.argv[0]}: not found (PATH: {program.env.get('PATH', 'not set')})"
    if isinstance(error, PermissionError):
        return f"{program.argv[0]}: may not be run (is its run bit set?)"
    return f"{program.argv[0]}: {error.strerror or error}"


def _want_exit_statuses() -> None:
    """Undo an inherited "ignore" for ended children.

    With it the system throws exit statuses away, and Python reads a guard's 2 as 0.
    """
    is_ignored = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if is_ignored and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _has_exit_status(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a program that ended can be asked how, or was."""
    if process.returncode is not None or not hasattr(os, "waitid"):
        return True
    try:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
    except ChildProcessError:
        return False
    return True
