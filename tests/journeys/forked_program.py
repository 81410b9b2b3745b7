"""A run of the program that a fork server started, with the interface of asyncio's processes."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import errno
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.journeys.fork_server import GREETING, Kind

ROOT: Final = Path(__file__).resolve().parents[2]
_ADDRESS: Final = f"\0agent-tui-tests-{os.getpid()}-{{}}"
"""Not a file's. The process that workers are forked from has imported this."""
_AT_START: Final = ("LANG", "LC_", "PYTHON", "TZ", "TEXTUAL", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
"""Beginnings of the variables that an interpreter, or a module, reads only when it starts."""


def can_fork(env: Mapping[str, str]) -> bool:
    """Whether a run with these variables does the same forked as in an interpreter of its own."""
    usual = ("LANG", "PYTHONPATH")
    return (
        env.get("LANG") == "C.UTF-8"
        and env.get("PYTHONPATH", "").split(os.pathsep)[-1] == str(ROOT)
        and not any(name.startswith(_AT_START) for name in env if name not in usual)
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
    arguments: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    *,
    stdin: bool | int = False,
    code: str = "",
) -> ForkedProgram:
    """Start `agent-tui` with these arguments, forked from a process that has it imported.

    It reads what is written to `stdin`, or this descriptor, or nothing. `code` runs in its place.
    """
    out, err, result = (os.pipe() for _ in range(3))
    if stdin is True:
        stdin_read, stdin_write = os.pipe()
    else:
        stdin_read = os.dup(stdin) if stdin else os.open(os.devnull, os.O_RDONLY)
    theirs = [stdin_read, out[1], err[1], result[1]]
    pid = order_fork(arguments, cwd, env, theirs, code)
    program = ForkedProgram(pid, await _reader(result[0], asyncio.StreamReader()))
    await _reader(out[0], program.stdout)
    await _reader(err[0], program.stderr)
    if stdin is True:
        program.stdin = await _writer(stdin_write)
    return program


def fork_in_terminal(
    arguments: Sequence[str], cwd: Path, env: Mapping[str, str], terminal: int, code: str = ""
) -> tuple[int, int]:
    """Start a run that has a terminal, which is closed here.

    Returns its process number, and the descriptor that `exit_status` takes.
    """
    result, write = os.pipe()
    return order_fork(arguments, cwd, env, [terminal] * 3 + [write], code), result


def exit_status(result: int) -> int:
    """Return the exit status of a run, negative for a signal, once it has ended."""
    with os.fdopen(result) as status:
        return int(status.read())


def order_fork(
    arguments: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    descriptors: Sequence[int],
    code: str = "",
) -> int:
    """Start a run and return its process number.

    The descriptors are its three streams, on a terminal or not, and where its exit status is
    written; they are closed here.
    """
    order = {"arguments": list(arguments), "cwd": str(cwd), "env": dict(env), "code": code}
    server = _server(_kind(order, has_terminal=os.isatty(descriptors[0])))
    socket.send_fds(server, [json.dumps(order).encode()], descriptors)
    for descriptor in {*descriptors}:
        os.close(descriptor)
    return int(server.recv(64))


def _kind(order: Mapping[str, Any], *, has_terminal: bool) -> Kind:
    """Return the kind whose imports are among those that the run makes itself."""
    if has_terminal:
        # What stands before the product may stand in the place of the screen's library.
        has_more = os.pathsep in order["env"].get("PYTHONPATH", "")
        return Kind.START if has_more else Kind.SCREEN
    has_servers = "--mcp-config" in order["arguments"] or Path(order["cwd"], ".mcp.json").exists()
    return Kind.SERVERS if has_servers or "agent" in order["code"] else Kind.PLAIN


@functools.cache
def _server(kind: Kind) -> socket.socket:
    """Connect to the server of one kind that all workers share; it ends with the last of them."""
    ends = 0
    while ends < 3:
        orders = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            orders.connect(_ADDRESS.format(kind))
        except ConnectionRefusedError:
            orders.close()
            _start_server(kind)
            continue
        with contextlib.suppress(ConnectionResetError):
            if orders.recv(64) == GREETING:
                atexit.register(orders.close)
                return orders
        # It ended just now with its last worker, or cannot start.
        orders.close()
        ends += 1
    raise RuntimeError(f"the fork server {kind} does not start")


def _start_server(kind: Kind) -> None:
    """Start it, unless another worker just did."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        try:
            listener.bind(_ADDRESS.format(kind))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return
            raise
        listener.listen()
        # Streams as the runs have: one cannot seek in pipes, and a terminal is written to by lines.
        reader, writer = os.openpty() if kind in (Kind.START, Kind.SCREEN) else os.pipe()
        subprocess.run(
            [sys.executable, "-m", "tests.journeys.fork_server", str(listener.fileno()), kind],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)},
            stdin=writer if os.isatty(writer) else reader,
            stdout=writer,
            stderr=writer,
            pass_fds=[listener.fileno()],
            check=True,
        )
        os.close(writer)
        atexit.register(os.close, reader)


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
