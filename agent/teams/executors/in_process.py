"""Workers as tasks in the leader's process: they share only its connections."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from agent.teams.executors.executor import OnDeath, SpawnConfig, SpawnResult
from agent.teams.team_file import ExecutorName

if TYPE_CHECKING:
    from agent.teams.executors.executor import TeammateExecutor

_LOG: Final = logging.getLogger(__name__)


class InProcessExecutor:
    """Runs each worker in a task; an exception ends only that worker."""

    def __init__(
        self, run_member: Callable[[SpawnConfig], Awaitable[None]], on_death: OnDeath
    ) -> None:
        """`run_member` runs a worker to its end."""
        self._run_member = run_member
        self._on_death = on_death
        self._tasks: dict[str, asyncio.Task[None]] = {}

    @property
    def name(self) -> ExecutorName:
        """The name of this executor."""
        return "in-process"

    async def spawn(self, config: SpawnConfig) -> SpawnResult:
        """Start a worker."""
        self._tasks[config.agent_id] = asyncio.ensure_future(self._run(config))
        return SpawnResult(config.agent_id, self.name)

    def adopt(self, agent_id: str) -> None:
        """Do nothing: these workers end with their leader, so none can be adopted."""

    async def terminate(self, agent_id: str) -> bool:
        """Cancel a worker's task; return whether it was running."""
        task = self._tasks.get(agent_id)
        if task is None or task.done():
            return False
        task.cancel()
        await asyncio.wait({task})
        return True

    async def aclose(self) -> None:
        """Cancel all tasks; transcripts are complete up to the last message."""
        tasks = {task for task in self._tasks.values() if not task.done()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, config: SpawnConfig) -> None:
        try:
            await self._run_member(config)
        except Exception:  # noqa: BLE001 - isolation boundary: the leader and the others continue
            _LOG.warning("%s ended with an error", config.agent_id, exc_info=True)
        finally:
            self._tasks.pop(config.agent_id, None)
            self._on_death(config.agent_id)


if TYPE_CHECKING:

    def _check_protocol(executor: InProcessExecutor) -> TeammateExecutor:
        return executor
