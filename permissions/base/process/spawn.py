"""Starts programs in their own session, with retries while descriptors or processes are short."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

RETRY_S: Final = 5.0
"""How long a start waits for other programs to exit; longer would look like a hang."""
_POLL_S: Final = 0.02
_SHORTAGES: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM})
_MAX_DESCRIPTORS: Final = 4096


class CannotStart(Exception):
    """The program could not be started; the message is the reason, an `OSError` may be the
    cause."""


class CannotConfine(CannotStart):
    """The confinement of a program cannot be enforced; nothing was started."""


class OutOfResources(CannotStart):
    """Too many descriptors or processes are in use; it may start when others have exited."""


class ConfinedRun(Protocol):
    """The resources of one confined run; each method is called once in any case."""

    @property
    def is_wrapped(self) -> bool:
        """Whether the started process wraps the program and ends with it."""
        ...

    def running(self, pid: int) -> None:
        """Start watching the process, right after its start. Raises nothing."""
        ...

    def release_start(self) -> None:
        """Release what only the start needed, after it succeeded or failed. Raises nothing."""
        ...

    def finish(self) -> None:
        """Release the rest, after the program and its descendants ended. Raises nothing."""
        ...


class Launch(Struct, frozen=True):
    """A program to start; a confinement only changes this value."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path | None = None
    """None: the working directory of this process."""
    stdin: bytes = b""
    """Empty: the null device."""
    memory_bytes: int | None = None
    """The most data it may allocate, on systems that can limit another process (Linux)."""
    pass_fds: tuple[int, ...] = ()
    """Descriptors that it inherits in addition to the standard streams."""
    talks: bool = False
    """Whether standard input is a pipe that the caller writes to and closes."""
    confined_run: ConfinedRun | None = None
    """Set by a `Confine`."""
    hides_abstract_sockets: bool = False
    """Set by a `Confine`: Unix sockets without a path are out of reach, on systems that can hold
    that. The program gets no rights from its file (set-user-ID) then."""


Confine = Callable[[Launch], Launch]
"""Returns the launch of a program under a confinement; raises `CannotStart` where that cannot be
enforced. What it returns is started at most once, and by the functions of this package."""


def shell_launch(
    command: str, *, env: Mapping[str, str], cwd: Path | None = None, stdin: bytes = b""
) -> Launch:
    """Return the program that runs a command of the settings: `/bin/sh -c`."""
    return Launch(("/bin/sh", "-c", command), env, cwd, stdin)


@contextlib.contextmanager
def releasing_start(program: Launch) -> Iterator[None]:
    """Release what a confinement needs for the start, or everything if the start raises."""
    confined_run = program.confined_run
    if confined_run is None:
        yield
        return
    try:
        yield
    except BaseException:
        confined_run.release_start()
        confined_run.finish()
        raise
    confined_run.release_start()


def spawn(program: Launch, *, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    """Start a program as the leader of a new session; `stdout`, `stderr` as for `Popen`.

    Raises:
        CannotStart: the text names the program and the reason.
    """
    _restore_exit_statuses()
    try:
        process = _popen(program, program.argv, stdout, stderr)
    except OSError as error:
        if error.errno == errno.ENOEXEC:  # a script without `#!`, which shells run themselves
            return _spawn_script(program, stdout, stderr)
        kind = OutOfResources if error.errno in _SHORTAGES else CannotStart
        raise kind(_reason(error, program)) from error
    except ValueError as error:  # a NUL character
        raise CannotStart(str(error)) from error
    if program.confined_run is not None:
        program.confined_run.running(process.pid)
    if program.memory_bytes is not None and sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):
            limits = program.memory_bytes, program.memory_bytes
            resource.prlimit(process.pid, resource.RLIMIT_DATA, limits)
    return process


async def spawn_when_possible(
    program: Launch, *, stdout: int, stderr: int, wait_s: float = RETRY_S
) -> subprocess.Popen[bytes]:
    """Start a program like `spawn`; retry for `wait_s` seconds while resources are short.

    Raises:
        CannotStart: the text names the program and the reason.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + wait_s
    while True:
        try:
            return spawn(program, stdout=stdout, stderr=stderr)
        except OutOfResources:
            if not _raise_descriptor_limit():
                if clock() >= deadline:
                    raise
                await asyncio.sleep(_POLL_S)


def _spawn_script(program: Launch, stdout: int, stderr: int) -> subprocess.Popen[bytes]:
    try:
        return _popen(program, ("/bin/sh", *program.argv), stdout, stderr)
    except OSError as error:
        raise CannotStart(_reason(error, program)) from error


def _popen(
    program: Launch, argv: Sequence[str], stdout: int, stderr: int
) -> subprocess.Popen[bytes]:
    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            stdin=subprocess.PIPE if program.stdin or program.talks else subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=dict(program.env),
            cwd=program.cwd,
            start_new_session=True,
            pass_fds=program.pass_fds,
            bufsize=0,
        )

    if not program.hides_abstract_sockets:
        return start()
    from permissions.base.process.socket_scope import start_in_scope  # ctypes: for few commands

    return start_in_scope(start)


def _reason(error: OSError, program: Launch) -> str:
    if (
        isinstance(error, FileNotFoundError)
        and program.cwd is not None
        and not os.path.isdir(program.cwd)
    ):
        return f"the folder {program.cwd} is gone"
    if isinstance(error, FileNotFoundError):
        return f"{program.argv[0]}: not found (PATH: {program.env.get('PATH', 'not set')})"
    if isinstance(error, PermissionError):
        return f"{program.argv[0]}: may not be run (is its run bit set?)"
    return f"{program.argv[0]}: {error.strerror or error}"


def _restore_exit_statuses() -> None:
    """Undo an inherited `SIG_IGN` for `SIGCHLD`.

    With it the system discards exit statuses, and Python reads a hook's 2 as 0.
    """
    is_ignored = signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    if is_ignored and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _raise_descriptor_limit() -> bool:
    """Raise this process's soft limit of open files; return False if that is impossible.

    Some systems start programs with 256, which a hundred concurrent hooks exhaust.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    new_limit = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= new_limit:
        return False
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (new_limit, hard))
    except (OSError, ValueError):
        return False
    return True
