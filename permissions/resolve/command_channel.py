"""The channel: a configured command that is given each request and may print the user's answer.

For phones and chats. The command gets the request as one JSON object on standard input; what it
prints is the answer (`permissions.resolve.remote_request`), printing nothing gives no opinion. It
is started without a shell, and ended with its descendants once another contender answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch
from permissions.decision import Decision, DecisionSource
from permissions.request import PermissionRequest
from permissions.resolve.contender_authority import CHANNEL
from permissions.resolve.remote_request import BadAnswer, decision_from, request_json

if TYPE_CHECKING:
    from permissions.resolve.contender import Contender

MAX_ANSWER_BYTES: Final = 64 * 1024
KILL_AFTER_S: Final = 2.0
"""Seconds between TERM and KILL."""
_LIMITS: Final = RunLimits(
    None, grace_s=KILL_AFTER_S, stdout_bytes=MAX_ANSWER_BYTES, stderr_bytes=0, stops_at_limit=True
)


class ChannelFailed(Exception):
    """The command could not be run, or its output is not an answer."""


class Channel:
    """Asks through a command."""

    name = CHANNEL

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        notify: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """`command` is a program with its arguments; `env` is its whole environment. `notify`
        receives each kind of failure once: the user may be waiting at the other end."""
        self._command = tuple(command)
        self._env = dict(env)
        self._notify = notify
        self._reported_failures: set[str] = set()

    async def decide(self, request: PermissionRequest, pending: Decision) -> Decision | None:
        """Return the answer, or None when the command printed nothing.

        Raises:
            ChannelFailed: it cannot be started, ended with a failure, or printed something else.
        """
        try:
            return await self._request_decision(request, pending)
        except ChannelFailed as error:
            if str(error) not in self._reported_failures:
                self._reported_failures.add(str(error))
                self._notify(f"The permission channel failed: {error}. You are asked here alone.")
            raise

    async def _request_decision(
        self, request: PermissionRequest, pending: Decision
    ) -> Decision | None:
        text = await self._run(json.dumps(request_json(request, pending), default=str) + "\n")
        if not text.strip():
            return None
        try:
            return decision_from(json.loads(text), DecisionSource.CHANNEL)
        except BadAnswer as error:
            raise ChannelFailed(f"{self._command[0]}: {error}") from error
        except (ValueError, RecursionError) as error:
            raise ChannelFailed(f"{self._command[0]} did not print JSON: {text[:80]!r}") from error

    async def _run(self, request: str) -> str:
        stdin = request.encode("utf-8", "backslashreplace")
        try:
            # Not in the project, from which a program could load modules.
            home = Path(self._env.get("HOME") or "/")
            result = await run_program(Launch(self._command, self._env, home, stdin), _LIMITS)
        except CannotStart as error:
            raise ChannelFailed(f"{self._command[0]} cannot be started: {error}") from error
        if result.was_stopped:
            raise ChannelFailed(f"{self._command[0]} printed more than {MAX_ANSWER_BYTES} bytes")
        if result.exit_code != 0:
            raise ChannelFailed(f"{self._command[0]} ended with status {result.exit_code}")
        return result.stdout.decode("utf-8", "replace")


if TYPE_CHECKING:

    def _check_protocol(channel: Channel) -> Contender:
        return channel
