"""The progress of a team's workers, read from their transcripts.

Workers have a transcript in every executor. It provides the rows on the screen, the events for the
leader's listeners, and the team's usage.
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
    """Whose transcripts are read, and the receivers of changes."""

    members: Callable[[], Sequence[MemberEntry]]
    waiting: Callable[[], Sequence[str]]
    """Returns the ids of workers that wait for a permission answer."""
    emit: Callable[[AgentEvent], Awaitable[None]]
    """Called with the messages of workers, as events with their agent ids."""
    add: Callable[[RunningAgent, Usage], Awaitable[None]]
    """Adds a worker's usage since the last call to the totals of the session."""
    record_usage: Callable[[str, Usage], Awaitable[None]]
    """Records for the next leader how much of a worker's usage, by name, is in the totals."""
    check: Callable[[RunningAgent], Awaitable[None]]
    """Called when a worker's usage has grown."""


class _Worker(Struct):
    row: RunningAgent
    counted_usage: Usage
    """The part of `usage` that is in the totals of a leader."""
    offset: int = 0
    usage: Usage = field(default_factory=Usage)


class MemberProgress:
    """Follows the transcripts of one team's workers."""

    def __init__(self, place: TeamPlace, watch: MailWatch, ports: ProgressPorts) -> None:
        """Read nothing before `begin`."""
        self._place = place
        self._watch = watch
        self._ports = ports
        self._workers: dict[str, _Worker] = {}
        self._change = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called when a worker did something."""

    async def begin(self) -> None:
        """Read the transcripts so far, then follow them.

        Past messages are not sent as events; usage without a leader is added to the totals.
        """
        for entry in self._ports.members():
            worker = self._worker_of(entry)
            for record in await asyncio.to_thread(_new_records, worker):
                _apply_record(worker, record)
            await self._count(entry)
        self._watch.listen(self._change.set)
        self._task = asyncio.ensure_future(self._follow())

    def rows(self) -> tuple[RunningAgent, ...]:
        """Return the current state of the workers, in the order of their starts."""
        waiting = set(self._ports.waiting())
        rows = [self._worker_of(entry).row for entry in self._ports.members()]
        for entry, row in zip(self._ports.members(), rows, strict=True):
            state = _STATES[entry.status]
            row.state = "asking" if state == "working" and row.id in waiting else state
            if row.is_running:
                row.ended_s = None
            elif row.ended_s is None:
                row.ended_s = time.monotonic()
        return tuple(rows)

    async def aclose(self) -> None:
        """Stop following; safe to call twice."""
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
        worker = self._worker_of(entry)
        records = await asyncio.to_thread(_new_records, worker)
        for record in records:
            _apply_record(worker, record)
            if isinstance(record, MessageRecord) and record.agent_id is None:
                await self._ports.emit(_event(worker.row, record.message))
        if await self._count(entry):
            await self._ports.check(worker.row)
        if records:
            self.on_change()

    async def _count(self, entry: MemberEntry) -> bool:
        """Add a worker's new usage to the totals; return whether there was any."""
        worker = self._worker_of(entry)
        more = _difference(worker.usage, worker.counted_usage)
        if more == Usage():
            return False
        worker.counted_usage = worker.usage
        await self._ports.add(worker.row, more)
        # A failed write only affects the next leader's totals.
        with contextlib.suppress(TeamError):
            await self._ports.record_usage(entry.name, worker.counted_usage)
        return True

    def _worker_of(self, entry: MemberEntry) -> _Worker:
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
    """Return the records that were added since the last call, complete lines only."""
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
                continue  # reported when the worker is resumed
    worker.offset += len(whole)
    return records


def _transcript(row: RunningAgent) -> Path | None:
    """Return a worker's transcript if it exists; its directory is named for the project."""
    if not row.transcript.exists():
        sessions, name = row.transcript.parent, row.transcript.name
        path = next(iter(sessions.glob(f"*/{name}")), None)
        if path is None:
            return None
        row.transcript = path
    return row.transcript


def _apply_record(worker: _Worker, record: object) -> None:
    row = worker.row
    match record:
        case RequestRecord():
            row.model, row.current = record.model, "thinking"
        case MessageRecord(agent_id=None):
            row.answer.on_message(record.message)
            for block in record.message.content:
                if block["type"] == "tool_use":
                    row.current = _call_line(block["name"], block["input"])
        case ToolStart():
            row.use.tool_count += 1
        case UsageRecord():
            worker.usage = usage = record.session_usage
            row.use.tokens = usage.prompt_tokens + usage.output_tokens
            row.use.usd = record.session_cost_usd
        case _:
            pass


def _call_line(name: object, arguments: object) -> str:
    """Return a call in one line: its tool, and its first text argument."""
    values = arguments.values() if isinstance(arguments, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return f"{name} {first.strip().partition(chr(10))[0][:200]}".strip()


def _event(row: RunningAgent, message: Message) -> MessageCommitted:
    # An agent's turn has the id of the call that started it.
    return MessageCommitted(row.task.tool_use_id, message, agent_id=row.id)


def _difference(now: Usage, earlier: Usage) -> Usage:
    names = Usage.__struct_fields__
    return Usage(**{name: max(0, getattr(now, name) - getattr(earlier, name)) for name in names})
