"""The channel: a configured command that is given each request and may print the user's answer.

For phones and chats. The command gets the request as one JSON object on standard input; what it
prints is the answer (`permissions.resolve.remote_request`), nothing is no opinion. It is started as
it stands, without a shell, and ended with everything it started once somebody else was faster.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from permissions.decision import Decision, DecisionSource
from permissions.request import PermissionRequest
from permissions.resolve.contender_authority import CHANNEL
from permissions.resolve.remote_request import BadAnswer, decision_from, request_json

if TYPE_CHECKING:
    from permissions.resolve.contender import Contender

MAX_ANSWER_BYTES: Final = 64 * 1024
KILL_AFTER_S: Final = 2.0
"""Between asking the command to end and ending it."""


class ChannelFailed(Exception):
    """The command could not be asked, or what it printed is no answer."""


class Channel:
    """Asks over a command."""

    name = CHANNEL

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        tell: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """`command` is a program with its arguments; `env` is all it gets to see. `tell` hears once
        of each reason why it cannot be asked: the user may be waiting at the other end."""
        self._command = tuple(command)
        self._env = dict(env)
        self._tell = tell
        self._told: set[str] = set()

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return the answer, or None when the command printed nothing.

        Raises:
            ChannelFailed: it cannot be started, ended with a failure, or printed something else.
        """
        try:
            return await self._asked(request, pending)
        except ChannelFailed as error:
            if str(error) not in self._told:
                self._told.add(str(error))
                self._tell(f"The permission channel failed: {error}. You are asked here alone.")
            raise

    async def _asked(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        text = await self._run(json.dumps(request_json(request, pending), default=str) + "\n")
        if not text.strip():
            return None
        try:
            return decision_from(json.loads(text), DecisionSource.CHANNEL)
        except BadAnswer as error:
            raise ChannelFailed(f"{self._command[0]}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise ChannelFailed(f"{self._command[0]} printed no JSON: {text[:80]!r}") from error

    async def _run(self, request: str) -> str:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=self._env,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ChannelFailed(f"{self._command[0]} cannot be started: {error}") from error
        try:
            return await self._exchange(process, request)
        finally:
            await _end(process)

    async def _exchange(self, process: asyncio.subprocess.Process, request: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        # One that does not read what it is asked may still answer.
        with suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(request.encode("utf-8", "backslashreplace"))
            await process.stdin.drain()
        process.stdin.close()
        printed = b""
        while piece := await process.stdout.read(8192):
            printed += piece
            if len(printed) > MAX_ANSWER_BYTES:
                raise ChannelFailed(
                    f"{self._command[0]} printed more than {MAX_ANSWER_BYTES} bytes"
                )
        status = await process.wait()
        if status != 0:
            raise ChannelFailed(f"{self._command[0]} ended with status {status}")
        return printed.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End what is left of the command's process group; returns once the command is gone."""
    for how, patience_s in ((signal.SIGTERM, KILL_AFTER_S), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
        if process.returncode is not None:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), patience_s)


if TYPE_CHECKING:

    def _prove(channel: Channel) -> Contender:
        return channel
