"""What the workers of a team do, as their transcripts say, wherever they run.

A worker has its own transcript in every executor, so that is what is followed: for the rows of the
screen, for those who read the leader's events, and for what the team has used.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, field

from agent.events import AgentEvent, MessageCommitted, Usage
from agent.messages import Message
from agent.session.record_json import UnreadableRecord, from_json
from agent.session.record_lines import Line, decode
from agent.session.records import MessageRecord, RequestRecord, ToolStart, UsageRecord
from agent.subagents.definition import AgentDefinition
from agent.subagents.running_agent import AgentState, RunningAgent
from agent.teams.post import MailWatch
from agent.teams.team_file import MemberEntry, MemberStatus, TeamPlace
from agent.teams.team_message import TeamError
from agent.tools.agent_port import AgentTask

_STATES: Final[dict[MemberStatus, AgentState]] = {
    "working": "working",
    "idle": "completed",
    "failed": "failed",
    "stopped": "stopped",
}


class ProgressPorts(Struct, frozen=True, kw_only=True):
    """Who is followed, and what receives the news."""

    members: Callable[[], Sequence[MemberEntry]]
    waiting: Callable[[], Sequence[str]]
    """Returns the ids of those that wait for an answer about permission."""
    emit: Callable[[AgentEvent], Awaitable[None]]
    """Takes the messages of workers, as events under their ids."""
    add: Callable[[RunningAgent, Usage], Awaitable[None]]
    """Adds what a worker used since the last call to the totals of the session."""
    record_usage: Callable[[str, Usage], Awaitable[None]]
    """Notes for the next leader what of a worker, by its name, the totals have."""
    check: Callable[[RunningAgent], Awaitable[None]]
    """Called when a worker has used more."""


class _Worker(Struct):
    row: RunningAgent
    counted_usage: Usage
    """What of `usage` is in the totals of a leader."""
    offset: int = 0
    usage: Usage = field(default_factory=Usage)


class MemberProgress:
    """Follows the workers of one team."""

    def __init__(self, place: TeamPlace, watch: MailWatch, ports: ProgressPorts) -> None:
        """Nothing is read before `begin`."""
        self._place = place
        self._watch = watch
        self._ports = ports
        self._workers: dict[str, _Worker] = {}
        self._change = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called when a worker did something."""

    async def begin(self) -> None:
        """Read what the workers have done, then follow them.

        What is past is not sent as events; what they used while there was no leader is added to the
        totals.
        """
        for entry in self._ports.members():
            worker = self._of(entry)
            for record in await asyncio.to_thread(_new_records, worker):
                _see(worker, record)
            await self._count(entry)
        self._watch.listen(self._change.set)
        self._task = asyncio.ensure_future(self._follow())

    def rows(self) -> tuple[RunningAgent, ...]:
        """Return the workers as they are now, in the order of their starts."""
        waiting = set(self._ports.waiting())
        rows = [self._of(entry).row for entry in self._ports.members()]
        for entry, row in zip(self._ports.members(), rows, strict=True):
            state = _STATES[entry.status]
            row.state = "asking" if state == "working" and row.id in waiting else state
            if row.is_running:
                row.ended_s = None
            elif row.ended_s is None:
                row.ended_s = time.monotonic()
        return tuple(rows)

    async def aclose(self) -> None:
        """Follow no longer; safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            self._watch.forget(self._change.set)
            task.cancel()
            await asyncio.wait({task})

    async def _follow(self) -> None:
        while True:
            await self._change.wait()
            self._change.clear()
            for entry in self._ports.members():
                await self._read(entry)

    async def _read(self, entry: MemberEntry) -> None:
        worker = self._of(entry)
        records = await asyncio.to_thread(_new_records, worker)
        for record in records:
            _see(worker, record)
            if isinstance(record, MessageRecord) and record.agent_id is None:
                await self._ports.emit(_event(worker.row, record.message))
        if await self._count(entry):
            await self._ports.check(worker.row)
        if records:
            self.on_change()

    async def _count(self, entry: MemberEntry) -> bool:
        """Add to the totals what a worker used; return whether it used anything more."""
        worker = self._of(entry)
        more = _difference(worker.usage, worker.counted_usage)
        if more == Usage():
            return False
        worker.counted_usage = worker.usage
        await self._ports.add(worker.row, more)
        # A disk that takes no files costs the next leader this, and nothing now.
        with contextlib.suppress(TeamError):
            await self._ports.record_usage(entry.name, worker.counted_usage)
        return True

    def _of(self, entry: MemberEntry) -> _Worker:
        worker = self._workers.get(entry.name)
        if worker is None:
            sessions = self._place.member_dir(entry.name) / "sessions"
            row = RunningAgent(
                id=entry.agent_id,
                definition=AgentDefinition(name=entry.agent_type or "worker", description=""),
                task=AgentTask(
                    description=entry.subtask.strip().partition("\n")[0][:80],
                    prompt=entry.subtask,
                    tool_use_id=entry.tool_use_id,
                ),
                depth=1,
                parent_id=None,
                transcript=sessions / f"{entry.session_id}.jsonl",
            )
            worker = self._workers[entry.name] = _Worker(row, entry.counted)
        return worker


def _new_records(worker: _Worker) -> list[object]:
    """Return what a transcript has more than at the last call; whole lines only."""
    path = _transcript(worker.row)
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            file.seek(worker.offset)
            data = file.read()
    except OSError:
        return []
    whole = data[: data.rfind(b"\n") + 1]
    records: list[object] = []
    for raw in whole.splitlines():
        line = decode(raw, 0)
        if isinstance(line, Line):
            if not (worker.offset or records):
                ago = datetime.now(UTC) - datetime.fromisoformat(line.timestamp)
                worker.row.started_s = time.monotonic() - ago.total_seconds()
            try:
                records.append(from_json(line.data))
            except (UnreadableRecord, msgspec.ValidationError):
                continue  # a resume of the worker reports it
    worker.offset += len(whole)
    return records


def _transcript(row: RunningAgent) -> Path | None:
    """Return a worker's file, once it is there: its directory is named for the project."""
    if not row.transcript.exists():
        sessions, name = row.transcript.parent, row.transcript.name
        path = next(iter(sessions.glob(f"*/{name}")), None)
        if path is None:
            return None
        row.transcript = path
    return row.transcript


def _see(worker: _Worker, record: object) -> None:
    row = worker.row
    match record:
        case RequestRecord():
            row.model, row.current = record.model, "thinking"
        case MessageRecord(agent_id=None):
            row.answer.see(record.message)
            for block in record.message.content:
                if block["type"] == "tool_use":
                    row.current = _call(block["name"], block["input"])
        case ToolStart():
            row.use.tool_count += 1
        case UsageRecord():
            worker.usage = usage = record.session_usage
            row.use.tokens = usage.prompt_tokens + usage.output_tokens
            row.use.usd = record.session_cost_usd
        case _:
            pass


def _call(name: object, arguments: object) -> str:
    """Return a call in one line: its tool, and the first thing that it is given."""
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return f"{name} {first.strip().partition(chr(10))[0][:200]}".strip()


def _event(row: RunningAgent, message: Message) -> MessageCommitted:
    # An agent's turn is named for the call that it works for.
    return MessageCommitted(row.task.tool_use_id, message, agent_id=row.id)


def _difference(now: Usage, earlier: Usage) -> Usage:
    names = Usage.__struct_fields__
    return Usage(**{name: max(0, getattr(now, name) - getattr(earlier, name)) for name in names})
