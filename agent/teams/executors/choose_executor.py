"""Selects a worker's executor: the one in the settings, if it is available."""

from __future__ import annotations

from collections.abc import Mapping

from agent.teams.executors.executor import TeammateExecutor
from agent.teams.executors.in_process import InProcessExecutor
from agent.teams.executors.own_process import DeathWatch, ProcessExecutor
from agent.teams.executors.pane_terminals import TERMINALS, terminal_here
from agent.teams.executors.panes import PaneExecutor
from agent.teams.team_file import ExecutorName, TeamPlace

PANE_MODES = frozenset({"panes", "tmux", "iterm2"})
"""The last two are names from other agents' settings."""


class Executors:
    """The executors of one leader."""

    def __init__(
        self,
        place: TeamPlace,
        env: Mapping[str, str],
        mode: str,
        in_process: InProcessExecutor,
        watch: DeathWatch,
    ) -> None:
        """`mode` is `auto` and `in-process`, `process`, or `panes`."""
        self._env = env
        self._mode = mode
        self._in_process = in_process
        self._watch = watch
        self._process = ProcessExecutor(place, env, watch)
        self._panes = {one.name: PaneExecutor(place, env, one, watch) for one in TERMINALS}

    def choose(self, name: ExecutorName | None) -> TeammateExecutor:
        """Return the executor of that name if it is available, else the one by settings."""
        terminal = terminal_here(self._env)
        match name:
            case "in-process":
                return self._in_process
            case "process":
                return self._process
            case _ if terminal is not None and (name == terminal.name or self._mode in PANE_MODES):
                return self._panes[terminal.name]
            case _ if self._mode == "process":
                return self._process
            case _:
                return self._in_process

    async def aclose(self) -> None:
        """End the workers in this process, and stop watching the others."""
        await self._in_process.aclose()
        await self._watch.aclose()
