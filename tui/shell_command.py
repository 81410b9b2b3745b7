"""A command the person typed after `!`: it runs at once, shows its output, and the model is told.

Nobody is asked: it is the person's own command, with the person's own rights.
"""

from __future__ import annotations

import asyncio
import signal
import time
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

from agent.display import CommandDisplay
from agent.events import AgentEvent, ToolDispatch, ToolProgress, ToolResult
from agent.own_command import note_of
from agent.tools.process_session import MARK, ProcessFamily

KEPT_CHARS: Final = 30_000
"""Output beyond this keeps its end; the model gets no more either."""
_READ_BYTES: Final = 65_536
_TURN: Final = "shell"


class ShellCommand:
    """One run of a command in a process group of its own."""

    def __init__(self, command: str, cwd: Path, env: Mapping[str, str], key: str) -> None:
        """Take what to run and where; nothing starts before `events`."""
        self.command = command
        self.output = ""
        self.exit_code: int | None = None
        self._cwd = cwd
        self._env = env
        self._key = key
        self._process: asyncio.subprocess.Process | None = None
        self.was_killed = False
        """Whether the person ended it."""

    async def events(self) -> AsyncIterator[AgentEvent]:
        """Run it and yield the events of its card; ends with exactly one result."""
        identifier = f"Bash {self.command}"
        yield ToolDispatch(_TURN, self._key, "Bash", {"command": self.command}, identifier)
        started_s = time.monotonic()
        try:
            self._process = await asyncio.create_subprocess_exec(
                "bash",
                "-c",
                self.command,
                cwd=self._cwd,
                env={**self._env, MARK: self._key},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self.output = str(error)
            yield self._result(identifier, 0.0)
            return
        try:
            assert self._process.stdout is not None
            decode = getincrementaldecoder("utf-8")("replace").decode
            while chunk := await self._process.stdout.read(_READ_BYTES):
                text = decode(chunk)
                self.output = (self.output + text)[-KEPT_CHARS:]
                yield ToolProgress(_TURN, self._key, text)
            self.exit_code = await self._process.wait()
        finally:
            self._kill_group()
        yield self._result(identifier, time.monotonic() - started_s)

    def kill(self) -> None:
        """End it and everything it started."""
        self.was_killed = True
        self._kill_group()

    def note(self) -> str:
        """Return command and output as the model is told them."""
        return note_of(self.command, self.output, self.exit_code)

    def _result(self, identifier: str, elapsed_s: float) -> ToolResult:
        is_error = self.exit_code != 0
        display = CommandDisplay(self.command, self.output, self.exit_code)
        return ToolResult(
            _TURN,
            self._key,
            "Bash",
            self.output or f"exit status {self.exit_code}",
            is_error,
            elapsed_s,
            "interrupted" if self.was_killed else "failed" if is_error else "ok",
            identifier,
            display,
        )

    def _kill_group(self) -> None:
        if self._process is None:
            return
        if self._process.returncode is None:
            self.was_killed = True
        if self.was_killed:
            ProcessFamily(self._process.pid, self._key).signal(signal.SIGKILL)
