"""Workers as separate processes without a terminal: they outlive a leader that is killed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from agent.teams.executors.executor import OnDeath, SpawnConfig, SpawnResult, write_start
from agent.teams.executors.process_watch import lease_holder, process_end
from agent.teams.lease import holder, is_held
from agent.teams.team_file import ExecutorName, TeamPlace
from agent.teams.team_message import TeamError
from permissions.base.process.spawn import CannotStart, Launch, spawn_when_possible

if TYPE_CHECKING:
    from agent.teams.executors.executor import TeammateExecutor

LOG_FILE: Final = "output.log"
END_S: Final = 5.0
"""Seconds between asking a worker's process to end and killing it."""


class _Child(Protocol):
    pid: int

    def poll(self) -> int | None: ...

    def wait(self) -> int: ...


class DeathWatch:
    """Watches the processes of workers; reports each end once."""

    def __init__(self, place: TeamPlace, on_death: OnDeath) -> None:
        """`on_death` is called in the event loop."""
        self._place = place
        self._on_death = on_death
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._children: dict[str, _Child] = {}

    def follow(self, agent_id: str, child: _Child | None = None) -> None:
        """Watch a worker that was started, or found running."""
        if child is not None:
            self._children[agent_id] = child
        self._tasks[agent_id] = asyncio.ensure_future(self._watch(agent_id))

    async def end(self, agent_id: str) -> bool:
        """End a worker's process; return whether it was running."""
        watching = self._tasks.get(agent_id)
        pid = holder(self._place.lease(agent_id))
        child = self._children.get(agent_id)
        if pid is None and child is not None and child.poll() is None:
            pid = child.pid  # it does not hold its lease yet
        if not pid:
            return False
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
            if watching is None:
                return True
            ended_tasks, _ = await asyncio.wait({watching}, timeout=END_S)
            if ended_tasks:
                break
        return True

    async def aclose(self) -> None:
        """Wait for the processes that are ending, at most `END_S`, then stop watching."""
        tasks = set(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=END_S)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _watch(self, agent_id: str) -> None:
        lease = self._place.lease(agent_id)
        child = self._children.get(agent_id)
        pid = child.pid if child is not None else await lease_holder(lease)
        if pid:
            await process_end(pid, lambda: child.poll() is None if child else is_held(lease))
        if child is not None:
            child.wait()  # it has ended
            self._children.pop(agent_id, None)
        self._tasks.pop(agent_id, None)
        self._on_death(agent_id)


class ProcessExecutor:
    """Runs each worker as `agent-tui worker`, in its own process session."""

    def __init__(self, place: TeamPlace, env: Mapping[str, str], watch: DeathWatch) -> None:
        """`env` is the environment of the program's start."""
        self._place = place
        self._env = env
        self._watch = watch

    @property
    def name(self) -> ExecutorName:
        """The name of this executor."""
        return "process"

    async def spawn(self, config: SpawnConfig) -> SpawnResult:
        """Start a worker. Raises TeamError."""
        start = write_start(self._place, config, env={})
        log = os.open(
            start.with_name(LOG_FILE),
            os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC,
            0o600,
        )
        try:
            launch = Launch(worker_command(start), self._env, config.cwd)
            child = await spawn_when_possible(launch, stdout=log, stderr=log)
        except CannotStart as error:
            raise TeamError(f"{config.agent_id} could not be started: {error}") from error
        finally:
            os.close(log)
        self._watch.follow(config.agent_id, child)
        return SpawnResult(config.agent_id, self.name)

    def adopt(self, agent_id: str) -> None:
        """Watch a live worker."""
        self._watch.follow(agent_id)

    async def terminate(self, agent_id: str) -> bool:
        """End a worker's process; return whether it was running."""
        return await self._watch.end(agent_id)


def worker_command(start: Path) -> tuple[str, ...]:
    """Return the command that runs a worker."""
    program = Path(__file__).resolve().parents[3] / "agent_tui.py"
    return (sys.executable, str(program), "worker", str(start))


if TYPE_CHECKING:

    def _check_protocol(executor: ProcessExecutor) -> TeammateExecutor:
        return executor
