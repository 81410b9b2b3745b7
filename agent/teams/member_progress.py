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


class _Followed(Struct):
    row: RunningAgent
    counted_usage: Usage
    """What of `used` is in the totals of a leader."""
    offset: int = 0
    usage: Usage = field(default_factory=Usage)


class MemberProgress:
    """Follows the workers of one team."""

    def __init__(self, place: TeamPlace, watch: MailWatch, ports: ProgressPorts) -> None:
        """Nothing is read before `begin`."""
        self._place = place
        self._watch = watch
        self._ports = ports
        self._followed: dict[str, _Followed] = {}
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.on_change: Callable[[], None] = lambda: None
        """Called when a worker did something."""

    async def begin(self) -> None:
        """Read what the workers have done, then follow them.

        What is past is not sent as events; what they used while there was no leader is added to the
        totals.
        """
        for entry in self._ports.members():
            followed = self._of(entry)
            for record in await asyncio.to_thread(_new_records, followed):
                _see(followed, record)
            await self._count(entry)
        self._watch.listen(self._changed.set)
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
            self._watch.forget(self._changed.set)
            task.cancel()
            await asyncio.wait({task})

    async def _follow(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            for entry in self._ports.members():
                await self._read(entry)

    async def _read(self, entry: MemberEntry) -> None:
        followed = self._of(entry)
        records = await asyncio.to_thread(_new_records, followed)
        for record in records:
            _see(followed, record)
            if isinstance(record, MessageRecord) and record.agent_id is None:
                await self._ports.emit(_event(followed.row, record.message))
        if await self._count(entry):
            await self._ports.check(followed.row)
        if records:
            self.on_change()

    async def _count(self, entry: MemberEntry) -> bool:
        """Add to the totals what a worker used; return whether it used anything more."""
        followed = self._of(entry)
        more = _difference(followed.usage, followed.counted_usage)
        if more == Usage():
            return False
        followed.counted_usage = followed.usage
        await self._ports.add(followed.row, more)
        # A disk that takes no files costs the next leader this, and nothing now.
        with contextlib.suppress(TeamError):
            await self._ports.record_usage(entry.name, followed.counted_usage)
        return True

    def _of(self, entry: MemberEntry) -> _Followed:
        found = self._followed.get(entry.name)
        if found is None:
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
            found = self._followed[entry.name] = _Followed(row, entry.counted)
        return found


def _new_records(followed: _Followed) -> list[object]:
    """Return what a transcript has more than at the last call; whole lines only."""
    path = _transcript(followed.row)
    if path is None:
        return []
    try:
        with path.open("rb") as file:
            file.seek(followed.offset)
            data = file.read()
    except OSError:
        return []
    whole = data[: data.rfind(b"\n") + 1]
    records: list[object] = []
    for raw in whole.splitlines():
        line = decode(raw, 0)
        if isinstance(line, Line):
            if not (followed.offset or records):
                ago = datetime.now(UTC) - datetime.fromisoformat(line.timestamp)
                followed.row.started_s = time.monotonic() - ago.total_seconds()
            try:
                records.append(from_json(line.data))
            except (UnreadableRecord, msgspec.ValidationError):
                continue  # a resume of the worker reports it
    followed.offset += len(whole)
    return records


def _transcript(row: RunningAgent) -> Path | None:
    """Return a worker's file, once it is there: its directory is named for the project."""
    if not row.transcript.exists():
        sessions, name = row.transcript.parent, row.transcript.name
        found = next(iter(sessions.glob(f"*/{name}")), None)
        if found is None:
            return None
        row.transcript = found
    return row.transcript


def _see(followed: _Followed, record: object) -> None:
    row = followed.row
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
            followed.usage = used = record.session_usage
            row.use.tokens = used.prompt_tokens + used.output_tokens
            row.use.usd = record.session_cost_usd
        case _:
            pass


def _call(name: object, given: object) -> str:
    """Return a call in one line: its tool, and the first thing that it is given."""
    values = given.values() if isinstance(given, dict) else ()
    first = next((value for value in values if isinstance(value, str)), "")
    return f"{name} {first.strip().partition(chr(10))[0][:200]}".strip()


def _event(row: RunningAgent, message: Message) -> MessageCommitted:
    # An agent's turn is named for the call that it works for.
    return MessageCommitted(row.task.tool_use_id, message, agent_id=row.id)


def _difference(now: Usage, before: Usage) -> Usage:
    names = Usage.__struct_fields__
    return Usage(**{name: max(0, getattr(now, name) - getattr(before, name)) for name in names})
