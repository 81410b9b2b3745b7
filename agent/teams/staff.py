"""Manages the workers of a team for its leader: starts, restarts, adopts and stops them.

A worker's entry is in the team file, and its task in its mailbox, before it is started: after a
kill at any moment, work can continue, and nothing is repeated.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.events import Usage
from agent.options import RunOptions
from agent.teams.executors.executor import SpawnConfig, TeammateExecutor
from agent.teams.lease import is_held
from agent.teams.mailbox import MailDirectory
from agent.teams.post import Post
from agent.teams.team_file import (
    ExecutorName,
    MemberEntry,
    MemberStatus,
    OnFailure,
    TeamFile,
    write_team,
)
from agent.teams.team_message import TeamError, agent_id, checked_name, derived_id
from permissions.base.text.failure_text import error_reason

MAX_STARTS: Final = 5
"""How often a worker is started for one task before it counts as failed."""
MAX_WORKERS: Final = 10
MAX_PROCESSES: Final = 4
COLORS: Final = ("green", "blue", "magenta", "cyan", "yellow", "red")
STOP_S: Final = 10.0
"""How long, in seconds, a worker may take to stop by itself."""


class NewMember(Struct, frozen=True, kw_only=True):
    """Parameters of a new worker."""

    name: str
    prompt: str
    tools: tuple[str, ...]
    agent_type: str | None = None
    color: str | None = None
    """The color of its agent type; None selects the next one."""
    tool_use_id: str = ""
    """Id of the tool call that starts it."""
    task_id: str | None = None
    on_failure: OnFailure = "continue"


class StaffPorts(Struct, frozen=True, kw_only=True):
    """What starting the workers of a team requires."""

    executors: Callable[[ExecutorName | None], TeammateExecutor]
    """Returns the executor of that name; for None, or if it is not available, the one by
    settings."""
    options: Callable[[MemberEntry], RunOptions]
    """Returns the options of a worker's program."""
    cwd: Path
    """Working directory of workers."""
    grace_s: float
    fail_member: Callable[[MemberEntry], None]
    """Called with a worker that was started too often."""
    notify: Callable[[str, str], None]
    max_starts: int = MAX_STARTS


class Staff:
    """The workers of one team. Only the process that holds the leader's lease has one."""

    def __init__(self, post: Post, team: TeamFile, ports: StaffPorts) -> None:
        """`team` is the content of the team file."""
        self._post = post
        self._place = post.place
        self._team = team
        self._ports = ports
        self._starting = asyncio.Lock()
        self._writing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closing = False

    @property
    def members(self) -> tuple[MemberEntry, ...]:
        """All workers so far, including ended ones, in the order of their start."""
        return self._team.members

    @property
    def working(self) -> tuple[MemberEntry, ...]:
        """The workers whose report is pending."""
        return tuple(one for one in self.members if one.status == "working")

    def find(self, name: str) -> MemberEntry:
        """Return a worker by name or id. Raises TeamError."""
        member = self._team.member(name)
        if member is None:
            names = ", ".join(one.name for one in self.members) or "none yet"
            raise TeamError(f"There is no {name} in this team; its members: {names}.")
        return member

    def is_active(self, name: str) -> bool:
        """Return whether a worker is alive: it, or its process, holds its lease."""
        return is_held(self._place.lease(name))

    async def spawn(self, new: NewMember) -> MemberEntry:
        """Start a worker on its task and return its entry. Raises TeamError."""
        checked_name(new.name, "team member")
        async with self._starting:
            if self._team.member(new.name) is not None or new.name == "leader":
                raise TeamError(
                    f"There is a {new.name} already: send it a message, or choose another name."
                )
            if len(self.working) >= MAX_WORKERS:
                raise TeamError(f"{MAX_WORKERS} workers are at work: wait until one has ended.")
            executor = self._ports.executors(None)
            own = sum(one.executor != "in-process" for one in self.working)
            if executor.name != "in-process" and own >= MAX_PROCESSES:
                raise TeamError(
                    f"{MAX_PROCESSES} workers with a process of their own are at work: wait until "
                    "one has ended."
                )
            entry = MemberEntry(
                name=new.name,
                agent_id=agent_id(new.name, self._place.name),
                session_id=str(uuid.uuid4()),
                executor=executor.name,
                subtask=new.prompt,
                color=new.color or COLORS[len(self.members) % len(COLORS)],
                tools=new.tools,
                agent_type=new.agent_type,
                tool_use_id=new.tool_use_id,
                task_id=new.task_id,
                on_failure=new.on_failure,
            )
            await asyncio.to_thread(self._make_mailbox, entry)
            await self._store(entry)
            try:
                await self._start(entry, executor)
            except (TeamError, OSError):
                await self._store_or_warn(replace(entry, status="failed"))
                raise
            return entry

    async def send_text(self, name: str, text: str) -> str:
        """Send a message to a worker; return the outcome. Raises TeamError and OSError."""
        entry = self.find(name)
        if entry.status == "stopped":
            raise TeamError(f"{entry.agent_id} was stopped; start another one.")
        # Marked as working before it can report.
        await self._store(replace(entry, status="working", starts=1))
        try:
            await self._post.send(entry.agent_id, "text", text=text)
        except (TeamError, OSError):
            await self._store_or_warn(entry)
            raise
        if self.is_active(name):
            return f"Delivered to {entry.agent_id}."
        await self._start(entry, self._ports.executors(entry.executor))
        return f"Delivered to {entry.agent_id}, which was started again for it."

    async def terminate(self, name: str, reason: str) -> bool:
        """Stop a worker for good; return whether it was alive. Raises TeamError."""
        entry = self.find(name)
        was_alive = self.is_active(name)
        await self._store_or_warn(replace(entry, status="stopped"))
        if was_alive:
            await self._end(entry, reason)
        return was_alive

    async def adopt(self) -> None:
        """Adopt the workers of an earlier leader: live ones continue, lost ones are restarted."""
        for name in [one.name for one in self.members]:
            entry = self.find(name)  # a report may have arrived since the last one was started
            if self.is_active(name):
                self._ports.executors(entry.executor).adopt(entry.agent_id)
                self._ports.notify(
                    f"{entry.agent_id} was still running and was taken over.", "info"
                )
            elif entry.status == "working":
                await self._restart(entry)

    async def record_report(
        self, agent: str, report_id: str, *, has_failed: bool
    ) -> MemberEntry | None:
        """Record how a worker ended its work; return its entry, None if already recorded."""
        entry = self._team.member(agent)
        if entry is None or entry.last_report == report_id:
            return None
        status: MemberStatus = "failed" if has_failed else "idle"
        status = entry.status if entry.status == "stopped" else status
        entry = replace(entry, status=status, starts=1, last_report=report_id)
        await self._store_or_warn(entry)
        return entry

    async def record_usage(self, name: str, usage: Usage) -> None:
        """Record how much of a worker's usage is in the session's totals. Raises TeamError."""
        await self._write(replace(self.find(name), counted=usage))

    async def retry(self, entry: MemberEntry, text: str) -> None:
        """Let a failed worker try again. Raises TeamError and OSError."""
        await self._store(replace(entry, is_retried=True))
        await self.send_text(entry.name, text)

    def on_death(self, agent: str) -> None:
        """Restart a worker that has ended, if it was at work; duplicate reports are recognized."""
        if self._is_closing:
            return
        task = asyncio.ensure_future(self._on_worker_death(agent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Stop live workers and start no more; the next leader continues their work."""
        self._is_closing = True
        for task in tuple(self._tasks):
            task.cancel()
        alive = [one for one in self.members if self.is_active(one.name)]
        await asyncio.gather(*map(self._end_with_leader, alive))

    async def _end_with_leader(self, entry: MemberEntry) -> None:
        if entry.executor == "in-process":
            await self._ports.executors(entry.executor).terminate(entry.agent_id)
        else:
            await self._end(entry, "The leader has ended.")

    async def _end(self, entry: MemberEntry, reason: str) -> None:
        """Ask a worker to end; terminate it if it cannot be asked or does not end."""
        try:
            await self._post.send(entry.agent_id, "stop", text=reason)
        except (TeamError, OSError):
            has_ended = False
        else:
            has_ended = await self._wait_for_end(entry.name)
        if not has_ended:
            await self._ports.executors(entry.executor).terminate(entry.agent_id)

    async def _on_worker_death(self, agent: str) -> None:
        entry = self._team.member(agent)
        if entry is not None and entry.status == "working" and not self.is_active(agent):
            await self._restart(entry)

    async def _restart(self, entry: MemberEntry) -> None:
        if entry.starts >= self._ports.max_starts:
            await self._store_or_warn(replace(entry, status="failed"))
            self._ports.fail_member(entry)
            return
        entry = replace(entry, starts=entry.starts + 1)
        await self._store_or_warn(entry)
        self._ports.notify(f"{entry.agent_id} ended unexpectedly and continues.", "warning")
        try:
            await self._start(entry, self._ports.executors(entry.executor))
        except (TeamError, OSError) as error:
            self._ports.notify(error_reason(error), "warning")
            await self._store_or_warn(replace(entry, status="failed"))
            self._ports.fail_member(entry)

    async def _start(self, entry: MemberEntry, executor: TeammateExecutor) -> None:
        # The same id each time, so that the worker ignores duplicates.
        await self._post.send(
            entry.agent_id,
            "task",
            text=entry.subtask,
            message_id=derived_id("task", entry.session_id),
        )
        await executor.spawn(
            SpawnConfig(
                agent_id=entry.agent_id,
                team=self._place.name,
                team_dir=self._place.directory,
                leader_id=self._team.leader_id,
                color=entry.color,
                cwd=self._ports.cwd,
                options=self._ports.options(entry),
                grace_s=self._ports.grace_s,
            )
        )

    def _make_mailbox(self, entry: MemberEntry) -> None:
        try:
            MailDirectory(self._place.member_dir(entry.name)).make()
        except OSError as error:
            raise TeamError(
                f"The mailbox of {entry.agent_id} cannot be created: {error.strerror}."
            ) from error

    async def _store_or_warn(self, entry: MemberEntry) -> None:
        """Store something that has happened; a failed write is only reported."""
        try:
            await self._write(entry)
        except TeamError as error:
            self._ports.notify(str(error), "warning")

    async def _store(self, entry: MemberEntry) -> None:
        """Store something that is about to happen. If TeamError is raised, it must not happen."""
        previous = self._team.member(entry.name)
        try:
            await self._write(entry)
        except TeamError:
            # Restore the entry, so that the leader does not wait for this worker.
            if self._team.member(entry.name) is entry:
                without = self._team.without(entry.name)
                self._team = without if previous is None else self._team.with_member(previous)
            raise

    async def _write(self, entry: MemberEntry) -> None:
        self._team = self._team.with_member(entry)
        # One write at a time, each with the latest state, so that no older state is written last.
        async with self._writing:
            await asyncio.to_thread(write_team, self._place, self._team)

    async def _wait_for_end(self, name: str) -> bool:
        for _ in range(int(STOP_S / 0.1)):
            if not self.is_active(name):
                return True
            await asyncio.sleep(0.1)
        return False
