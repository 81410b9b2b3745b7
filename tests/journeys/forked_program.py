"""A run of the program that a fork server started, with the interface of asyncio's processes."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_AT_START: Final = ("LANG", "LC_", "PYTHON", "TZ", "TEXTUAL", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
"""Beginnings of the variables that an interpreter, or a module, reads only when it starts."""


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a run with these variables does the same forked as in an interpreter of its own."""
    usual = {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)}
    return all(env.get(name) == value for name, value in usual.items()) and not any(
        name.startswith(_AT_START) for name in env if name not in usual
    )


class ForkedProgram:
    """One run. Its streams are pipes; `stdin` is None where it reads nothing."""

    def __init__(self, pid: int, result: asyncio.StreamReader) -> None:
        """Watch a run whose exit status can be read from `result`."""
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: asyncio.StreamWriter | None = None
        self.stdout = asyncio.StreamReader()
        self.stderr = asyncio.StreamReader()
        self._result = result
        self._end = asyncio.ensure_future(self._wait())

    async def _wait(self) -> int:
        self.returncode = int(await self._result.read())
        return self.returncode

    async def wait(self) -> int:
        """Return the exit status once it has ended; negative for a signal."""
        return await asyncio.shield(self._end)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    async def communicate(self, given: bytes | None = None) -> tuple[bytes, bytes]:
        """Write what is given, and return its output once it has ended."""
        try:
            out, err, _ = await asyncio.gather(
                self.stdout.read(), self.stderr.read(), self._give(given)
            )
            await self.wait()
        except asyncio.CancelledError:
            self.kill()
            raise
        return out, err

    async def _give(self, given: bytes | None) -> None:
        if self.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            if given:
                self.stdin.write(given)
                await self.stdin.drain()
        self.stdin.close()


async def fork_program(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdin: bool = False
) -> ForkedProgram:
    """Start `agent-tui` with these arguments, forked from a process that has it imported."""
    pipes = [os.pipe() for _ in range(4)]
    (stdin_read, stdin_write), out, err, result = pipes
    if not stdin:
        os.close(stdin_write)
        os.close(stdin_read)
        stdin_read = os.open(os.devnull, os.O_RDONLY)
    theirs = [stdin_read, out[1], err[1], result[1]]
    order = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}
    server = _server()
    socket.send_fds(server, [json.dumps(order).encode()], theirs)
    for descriptor in theirs:
        os.close(descriptor)
    pid = int(server.recv(64))
    program = ForkedProgram(pid, await _reader(result[0], asyncio.StreamReader()))
    await _reader(out[0], program.stdout)
    await _reader(err[0], program.stderr)
    if stdin:
        program.stdin = await _writer(stdin_write)
    return program


@functools.cache
def _server() -> socket.socket:
    """Start this process's server; it ends with its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        # Pipes, as the runs have: their streams cannot be sought in.
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.journeys.fork_server", str(theirs.fileno())],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
        )

    def end() -> None:
        ours.close()
        process.communicate()

    atexit.register(end)
    return ours


async def _reader(descriptor: int, reader: asyncio.StreamReader) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(descriptor, "rb", buffering=0)
    )
    return reader


async def _writer(descriptor: int) -> asyncio.StreamWriter:
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop), os.fdopen(descriptor, "wb", buffering=0)
    )
    return asyncio.StreamWriter(transport, protocol, None, loop)
