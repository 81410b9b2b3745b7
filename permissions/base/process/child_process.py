"""One running program: its exit, its exit status, and the termination of its descendants.

Every child leads a session and carries a mark in its environment, by which descendants that leave
the session are found. The guardian ends them should this process be killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import IO

from msgspec.structs import replace

from permissions.base.process.guardian import forget, register_pid, watch
from permissions.base.process.process_tree import MARK, ProcessFamily, signal_members
from permissions.base.process.spawn import (
    RETRY_S,
    ConfinedRun,
    Launch,
    releasing_start,
    spawn_when_possible,
)

_POLL_S = 0.02


class ChildProcess:
    """A program started by `start`; always call `release` in the end."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        mark: str,
        on_exit: Callable[[], None] | None,
        confined_run: ConfinedRun | None,
    ) -> None:
        """Only `start` calls this."""
        self.exit_event = asyncio.Event()
        self.mark = mark
        """Value of `MARK` in its environment; unique for each child."""
        self._on_exit = on_exit
        self._confined_run = confined_run
        self._process = process
        self._loop = asyncio.get_running_loop()
        self._exit_fd: int | None = None
        self._watch_exit()

    @classmethod
    async def start(
        cls,
        program: Launch,
        *,
        stdout: int,
        stderr: int,
        wait_s: float = RETRY_S,
        on_exit: Callable[[], None] | None = None,
    ) -> ChildProcess:
        """Start a program; `stdout`, `stderr` as for `Popen`, `wait_s` as for `spawn`.

        Raises:
            CannotStart: the text names the program and the reason.
        """
        mark = uuid.uuid4().hex
        guardian_mark = f"{MARK}={mark}"
        watch(guardian_mark)
        marked_program = replace(program, env={**program.env, MARK: mark})
        try:
            with releasing_start(program):
                process = await spawn_when_possible(
                    marked_program, stdout=stdout, stderr=stderr, wait_s=wait_s
                )
        except BaseException:
            forget(guardian_mark)
            raise
        register_pid(guardian_mark, process.pid)
        return cls(process, mark, on_exit, program.confined_run)

    @property
    def pid(self) -> int:
        """Process id, which is also its session and process group."""
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes] | None:
        """Its standard input, where it is a pipe."""
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes] | None:
        """Its standard output, where it is a pipe of this child's own."""
        return self._process.stdout

    @property
    def stderr(self) -> IO[bytes] | None:
        """Its standard error, where it is a pipe of this child's own."""
        return self._process.stderr

    def family(self) -> ProcessFamily:
        """Return the program and its descendants."""
        return ProcessFamily(self.pid, self.mark)

    def reap(self) -> int | None:
        """Return the exit status, negative for a signal; None while it runs or if it is lost.
        Afterwards the system may reuse its process id.
        """
        is_known = self._has_exit_status()
        exit_code = self._process.poll()
        return exit_code if is_known else None

    def kill_group(self) -> None:
        """Send KILL to its process group; to be called before `reap`."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    async def end(self, grace_s: float) -> None:
        """Send TERM to it and its descendants, KILL to the rest after `grace_s`; wait for its exit.

        The cleanup completes even if the caller is cancelled meanwhile. A grace of 0 sends KILL at
        once.
        """
        await _finish(self._end(grace_s))

    def release(self) -> None:
        """Close every descriptor and reap the program; processes that it left running may
        continue."""
        forget(f"{MARK}={self.mark}")
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None and not pipe.closed:
                self._loop.remove_reader(pipe.fileno())
                self._loop.remove_writer(pipe.fileno())
                with contextlib.suppress(OSError):
                    pipe.close()
        self._close_exit_fd()
        self._process.poll()
        confined_run, self._confined_run = self._confined_run, None
        if confined_run is not None:
            confined_run.finish()

    async def _end(self, grace_s: float) -> None:
        family = self.family()
        if grace_s > 0:
            await self._terminate(family, time.monotonic() + grace_s)
        await asyncio.to_thread(family.kill)
        await self.exit_event.wait()

    async def _terminate(self, family: ProcessFamily, deadline: float) -> None:
        if self._confined_run is not None and self._confined_run.is_wrapped:
            signaled_members = set(await asyncio.to_thread(family.members))
            # Ending the wrapper would kill the program before it could clean up.
            signal_members(
                (each for each in signaled_members if each.pid != self.pid), signal.SIGTERM
            )
        else:
            signaled_members = set(await asyncio.to_thread(family.signal, signal.SIGTERM))
        while time.monotonic() < deadline:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.exit_event.wait(), _POLL_S)
            members = set(await asyncio.to_thread(family.members))
            if not members:
                return
            # A shell signaled between fork and exec still starts its program. No other process is
            # signaled twice, which some programs treat as a forced exit.
            signal_members(members - signaled_members, signal.SIGTERM)
            signaled_members |= members
            if self.exit_event.is_set():
                await asyncio.sleep(_POLL_S)

    def _watch_exit(self) -> None:
        try:
            self._exit_fd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            # No pidfd here (macOS, old kernels): a dedicated thread waits, since a pool could run
            # out of threads, and the exit of further programs would go unnoticed.
            threading.Thread(target=self._wait_in_thread, name="child exit", daemon=True).start()
            return
        self._loop.add_reader(self._exit_fd, self._exit_seen)

    def _wait_in_thread(self) -> None:
        if hasattr(os, "waitid"):
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:  # macOS before Python 3.13: it can only be reaped at once
            self._process.wait()
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            self._loop.call_soon_threadsafe(self._exit_seen)

    def _exit_seen(self) -> None:
        self._close_exit_fd()
        self.exit_event.set()
        if self._on_exit is not None:
            self._on_exit()

    def _close_exit_fd(self) -> None:
        if self._exit_fd is not None:
            self._loop.remove_reader(self._exit_fd)
            os.close(self._exit_fd)
            self._exit_fd = None

    def _has_exit_status(self) -> bool:
        """Return whether its exit status is available or was read."""
        if self._process.returncode is not None or not hasattr(os, "waitid"):
            return True
        try:
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
        except ChildProcessError:
            return False
        return True


async def _finish(work: Coroutine[object, object, None]) -> None:
    """Wait for the cleanup to complete; a cancellation meanwhile is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancellation = error
    task.result()
    if cancellation is not None:
        raise cancellation
