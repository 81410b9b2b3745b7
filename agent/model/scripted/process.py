"""A scripted server in its own process, so that it takes no CPU time from its client's."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Final

from permissions.base.process.child_environment import child_environment

START_TIMEOUT_S: Final = 20.0


class ScriptedProcess:
    """Runs `python -m agent.model.scripted`; `async with` it, or `start` and `aclose`.

    The child ends with this process, even if this process is killed.
    """

    def __init__(self, scenario: str, *, variables: Mapping[str, str] | None = None) -> None:
        """`scenario` is the path of a scenario file, or `demo`."""
        self._scenario = scenario
        self._variables = dict(variables or {})
        self._process: asyncio.subprocess.Process | None = None
        self.base_url = ""

    async def start(self) -> str:
        """Start the server and return its base URL.

        Raises:
            OSError: it did not start; the text is the reason.
        """
        pairs = [f"--set={name}={value}" for name, value in self._variables.items()]
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            # The working directory or PYTHONPATH may contain a package with one of our names: the
            # child uses this process's search path instead.
            "-P",
            "-m",
            "agent.model.scripted",
            self._scenario,
            "--with-parent",
            *pairs,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=child_environment(os.environ, {"PYTHONPATH": os.pathsep.join(sys.path)}),
            # Ctrl+C on the terminal must not reach the server.
            start_new_session=True,
        )
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), START_TIMEOUT_S)
        except TimeoutError:
            line = b""
        self.base_url = line.decode().strip()
        if not self.base_url:
            raise OSError(
                f"The scripted server did not start. {await self._read_error_output()}".strip()
            )
        return self.base_url

    async def aclose(self) -> None:
        """End the server and wait for its exit."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.terminate()
        # Reads the remaining output, so that the pipes are closed with the process.
        await process.communicate()

    async def __aenter__(self) -> ScriptedProcess:
        """Start."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End."""
        await self.aclose()

    async def _read_error_output(self) -> str:
        """Stop the process and return its standard error; empty if there is no process."""
        process, self._process = self._process, None
        if process is None:
            return ""
        if process.returncode is None:
            process.terminate()
        _, error_output = await process.communicate()
        return error_output.decode("utf-8", "replace").strip()
