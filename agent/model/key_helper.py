"""Runs the command of the `apiKeyHelper` setting, which prints a key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from msgspec.structs import replace

from agent.model.client import ModelError
from agent.model.endpoint_config import Endpoint
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, shell_launch

HELPER_TIMEOUT_S: Final = 30.0


async def read_helper_key(command: str, *, env: Mapping[str, str]) -> str:
    """Return the first line that the command prints.

    The command comes from user or policy settings, never from a project.

    Raises:
        ModelError: it failed, printed no key, or took too long; its output is not quoted.
    """
    limits = RunLimits(HELPER_TIMEOUT_S, stderr_bytes=0)
    try:
        # Not in the project, whose files must not influence it.
        program = shell_launch(command, env=env, cwd=Path(env.get("HOME") or "/"))
        run = await run_program(program, limits)
    except CannotStart as error:
        raise _failure(f"cannot start: {error}") from error
    if run.timed_out:
        raise _failure(f"took longer than {HELPER_TIMEOUT_S:g} s")
    if run.exit_code != 0:
        raise _failure(f"ended with exit status {run.exit_code}")
    lines = run.stdout.decode("utf-8", "replace").strip().splitlines()
    if not lines or not lines[0].strip():
        raise _failure("did not print a key")
    return lines[0].strip()


class KeyedClient(Protocol):
    """A client whose key can change."""

    @property
    def endpoint(self) -> Endpoint:
        """Where it sends requests, and with which key."""
        ...

    async def use(self, endpoint: Endpoint) -> None:
        """Send later requests to `endpoint`."""
        ...


class KeyRefresh:
    """Runs the helper again after a key was rejected, and passes the new key to the client."""

    def __init__(self, client: KeyedClient, command: str, env: Mapping[str, str]) -> None:
        """See `read_helper_key` for command and environment."""
        self._client = client
        self._command = command
        self._env = env

    async def __call__(self) -> bool:
        """Return whether the key changed; if the helper fails, the old one remains."""
        try:
            key = await read_helper_key(self._command, env=self._env)
        except ModelError:
            return False
        if key == self._client.endpoint.api_key:
            return False
        await self._client.use(replace(self._client.endpoint, api_key=key, auth_token=None))
        return True


def _failure(what: str) -> ModelError:
    return ModelError("not_configured", f"The command of the apiKeyHelper setting {what}.")
