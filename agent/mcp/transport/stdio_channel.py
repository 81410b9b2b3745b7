"""A program that runs for one connection, with messages as lines on its standard streams."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
from collections import deque
from collections.abc import Mapping
from typing import IO, Final

from msgspec.structs import replace

from agent.mcp.transport.message_channel import MAX_MESSAGE_BYTES, ChannelClosed
from permissions.base.process.child_process import ChildProcess
from permissions.base.process.spawn import Launch
from permissions.base.text.sanitize import sanitize

STDERR_BYTES: Final = 64 * 1024
LEAVES_S: Final = 0.5
"""Seconds for a program to exit after its standard input was closed."""
GRACE_S: Final = 1.0
"""Seconds between TERM and KILL."""
_CHUNK: Final = 64 * 1024
_READ_AHEAD: Final = 256
"""Lines to buffer before the program is blocked."""


class StdioChannel:
    """A running program and its streams; opened by `start`."""

    def __init__(self, child: ChildProcess) -> None:
        """Only `start` calls this."""
        self._child = child
        self._errors: deque[bytes] = deque()
        self._errors_size = 0
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(_READ_AHEAD)
        self._writing = asyncio.Lock()
        self._tasks = (
            asyncio.create_task(self._read_lines()),
            asyncio.create_task(self._read_errors()),
        )

    @classmethod
    async def start(cls, program: Launch) -> StdioChannel:
        """Start a program. Raises CannotStart."""
        child = await ChildProcess.start(
            replace(program, talks=True), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for stream in (child.stdin, child.stdout, child.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
        return cls(child)

    @property
    def error_text(self) -> str:
        """The end of its standard error, for users."""
        return sanitize(b"".join(self._errors).decode("utf-8", "replace"))[-4_000:].strip()

    @property
    def exit_text(self) -> str:
        """How the program ended; empty while it runs."""
        if not self._child.exit_event.is_set():
            return ""
        code = self._child.reap()
        if code is None:
            return "the program ended"
        return (
            f"the program ended with exit code {code}" if code >= 0 else f"signal {-code} ended it"
        )

    async def send(self, message: Mapping[str, object]) -> None:
        """Write a line."""
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        async with self._writing:
            await self._write(data)

    async def receive(self) -> bytes:
        """Return the next line."""
        line = await self._lines.get()
        if line is None:
            raise ChannelClosed(self.exit_text or "the program closed its output")
        return line

    async def aclose(self) -> None:
        """Close its input, wait briefly, then end it and all processes that it started."""
        for task in self._tasks:
            task.cancel()
        stdin = self._child.stdin
        if stdin is not None and not stdin.closed:
            asyncio.get_running_loop().remove_writer(stdin.fileno())
            with contextlib.suppress(OSError):
                stdin.close()
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._child.exit_event.wait(), LEAVES_S)
        finally:
            # Also ends processes that it left running, even if it exited by itself.
            await self._child.end(GRACE_S)
            self._child.release()

    async def _write(self, data: bytes) -> None:
        stdin = self._child.stdin
        view = memoryview(data)
        while view:
            if stdin is None or stdin.closed or self._child.exit_event.is_set():
                raise ChannelClosed(self.exit_text or "its input is closed")
            try:
                view = view[os.write(stdin.fileno(), view) :]
            except BlockingIOError:
                await _wait_until_ready(stdin, to_write=True)
            except OSError as error:
                raise ChannelClosed(error.strerror or str(error)) from error

    async def _read_lines(self) -> None:
        parts: list[bytes] = []
        size = 0
        while chunk := await _read(self._child.stdout):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                size += len(line)
                whole = b"".join([*parts, line]).strip() if size <= MAX_MESSAGE_BYTES else b""
                if whole:
                    await self._lines.put(whole)
                parts, size = [], 0
            size += len(rest)
            parts = [*parts, rest] if size <= MAX_MESSAGE_BYTES else []
        await self._lines.put(None)

    async def _read_errors(self) -> None:
        while chunk := await _read(self._child.stderr):
            self._errors.append(chunk)
            self._errors_size += len(chunk)
            while self._errors_size > STDERR_BYTES and len(self._errors) > 1:
                self._errors_size -= len(self._errors.popleft())


async def _read(stream: IO[bytes] | None) -> bytes:
    """Wait for data and return it; empty at the end."""
    while stream is not None and not stream.closed:
        try:
            return os.read(stream.fileno(), _CHUNK)
        except BlockingIOError:
            await _wait_until_ready(stream, to_write=False)
        except OSError:
            break
    return b""


async def _wait_until_ready(stream: IO[bytes], *, to_write: bool) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    (loop.add_writer if to_write else loop.add_reader)(stream.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        if not stream.closed:
            (loop.remove_writer if to_write else loop.remove_reader)(stream.fileno())
