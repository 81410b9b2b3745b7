"""Workers in panes of the terminal: separate processes that display their work."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from agent.teams.executors.executor import SpawnConfig, SpawnResult, write_start
from agent.teams.executors.own_process import DeathWatch, worker_command
from agent.teams.executors.pane_terminals import PaneTerminal
from agent.teams.team_file import ExecutorName, TeamPlace
from agent.teams.team_message import TeamError
from permissions.base.process.run_program import RunLimits, run_program
from permissions.base.process.spawn import CannotStart, Launch

if TYPE_CHECKING:
    from agent.teams.executors.executor import TeammateExecutor

_LIMITS: Final = RunLimits(10.0, stdout_bytes=4096, stderr_bytes=4096, leaves_descendants=True)
_OF_THE_TERMINAL: Final = ("TERM", "COLORTERM", "TMUX", "TMUX_PANE", "COLUMNS", "LINES")
"""Variables that a pane sets itself."""


class PaneExecutor:
    """Runs each worker as `agent-tui worker` in a pane."""

    def __init__(
        self, place: TeamPlace, env: Mapping[str, str], terminal: PaneTerminal, watch: DeathWatch
    ) -> None:
        """`env` is the environment of the program's start."""
        self._place = place
        self._env = env
        self._terminal = terminal
        self._watch = watch
        self._last = ""
        """The pane that was opened last; it may be closed by now."""

    @property
    def name(self) -> ExecutorName:
        """The name of this executor."""
        return self._terminal.name

    async def spawn(self, config: SpawnConfig) -> SpawnResult:
        """Open a pane and start a worker in it. Raises TeamError."""
        # A pane inherits the multiplexer's environment; a command line would expose keys.
        env = {key: value for key, value in self._env.items() if key not in _OF_THE_TERMINAL}
        start = write_start(self._place, config, env=env)
        pane = self._last = await self._open(config, worker_command(start))
        for command in self._terminal.mark(pane, config):
            with contextlib.suppress(TeamError):  # the worker runs; only its pane looks different
                await self._run(command)
        self._watch.follow(config.agent_id)
        return SpawnResult(config.agent_id, self.name, pane)

    def adopt(self, agent_id: str) -> None:
        """Watch a live worker."""
        self._watch.follow(agent_id)

    async def terminate(self, agent_id: str) -> bool:
        """End a worker's process, which closes its pane; return whether it was running."""
        return await self._watch.end(agent_id)

    async def _open(self, config: SpawnConfig, command: tuple[str, ...]) -> str:
        """Open a pane for a command and return its id. Raises TeamError."""
        if self._last:
            with contextlib.suppress(TeamError):
                return await self._run(self._terminal.split(config, command, self._env, self._last))
        return await self._run(self._terminal.split(config, command, self._env, ""))

    async def _run(self, argv: tuple[str, ...]) -> str:
        """Run a command of the terminal and return its output. Raises TeamError."""
        try:
            result = await run_program(Launch(argv, self._env), _LIMITS)
        except (CannotStart, TimeoutError) as error:
            raise TeamError(f"{self._terminal.name} cannot open a pane: {error}") from error
        if result.exit_code != 0:
            lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = lines[-1] if lines else argv[0]  # the last line, as of a traceback
            raise TeamError(f"{self._terminal.name} cannot open a pane: {reason}")
        return result.stdout.decode("utf-8", "replace").strip()


if TYPE_CHECKING:

    def _check_protocol(executor: PaneExecutor) -> TeammateExecutor:
        return executor
