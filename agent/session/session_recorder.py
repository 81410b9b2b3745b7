"""Writes a conversation into its transcript as it happens, before listeners get the event.
A failing disk does not stop the conversation: records wait in memory, and the user is notified
once, and again when it works. Implements the recorder port of
`agent.tools.lifecycle`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import asdict

from agent.display import Display, TextDisplay, TodoItem
from agent.errors import SessionError
from agent.events import (
    AgentEvent,
    Compacted,
    MessageCommitted,
    Notice,
    PermissionResolved,
    RequestStart,
    Terminal,
    Tombstone,
    ToolResult,
    UsageUpdate,
)
from agent.messages import Block, Message, ToolUse
from agent.session.record_json import to_json
from agent.session.records import (
    DURABLE,
    LAST_ONE_COUNTS,
    CompactionRecord,
    DenialRecord,
    DraftRecord,
    GrantsRecord,
    MessageRecord,
    ModeRecord,
    NoticeRecord,
    PromptRecord,
    QueueRecord,
    Record,
    RequestRecord,
    RewindRecord,
    SystemRecord,
    TerminalRecord,
    TitleRecord,
    TodosRecord,
    TombstoneRecord,
    ToolEnd,
    ToolStart,
    UsageRecord,
)
from agent.session.session_seal import SessionSeal
from agent.session.shown_json import denial_to_json, diff_to_json
from agent.session.store import Session
from permissions.decision import Behavior, Decision

Redact = Callable[[str], str]
_Whole = MessageCommitted | RequestStart | UsageUpdate | Tombstone | Notice | Terminal


class SessionRecorder:
    """Records the events of one session."""

    def __init__(
        self,
        session: Session,
        *,
        redact: Redact | None = None,
        cost_by_model: Callable[[], Mapping[str, object] | None] = lambda: None,
        limits: Callable[[], Mapping[str, tuple[int, int]] | None] = lambda: None,
        rooms: Callable[[], Mapping[str, tuple[int, int]] | None] = lambda: None,
        seal: SessionSeal | None = None,
    ) -> None:
        """Write to `session`.

        Args:
            session: an open session of this process.
            redact: applied to the line of every record; None writes it unchanged.
            cost_by_model: returns the state of the cost tracker; called for every usage record.
            limits: returns limits of models from errors; called for every usage record.
            rooms: returns accepted output sizes; called for every usage record.
            seal: marks grants and modes, which are not restored without it.
        """
        self._session = session
        self._redact = redact
        self._latest: dict[str, Record] = {}
        self.complaint: str | None = None
        """Message about a disk error, set once per problem; its reader sets it to None."""
        self._has_trouble = False
        self._turn_id = ""
        self._denials: dict[str, Decision] = {}
        """Denials by the ids of calls whose result has not arrived yet."""
        self._cost_by_model = cost_by_model
        self._limits = limits
        self._rooms = rooms
        self._seal = seal
        self.is_titled = False
        """Whether the session has a name, or got one in this run."""

    @property
    def session_id(self) -> str:
        """The session's identifier."""
        return self._session.id

    @property
    def session(self) -> Session:
        """The session itself, for its directory and file."""
        return self._session

    @property
    def transcript_path(self) -> Path:
        """The session's file."""
        return self._session.path

    @property
    def is_unused_copy(self) -> bool:
        """See `agent.session.store.Session`."""
        return self._session.is_unused_copy

    async def prompt(self, turn_id: str, text: str) -> None:
        """Record the start of a prompt, which is no longer a draft."""
        self._turn_id = turn_id
        await self.write(PromptRecord(turn_id, text))
        if self._latest.get("draft", DraftRecord("")) != DraftRecord(""):
            await self.write(DraftRecord(""))

    async def event(self, event: AgentEvent, history: Sequence[Message]) -> None:
        """Record an event, on disk if its kind requires that.

        `history` is the model's history after the event.
        """
        match event:
            case PermissionResolved(agent_id=None) if event.decision.behavior is Behavior.DENY:
                self._denials[event.tool_use_id] = event.decision
            case ToolResult(agent_id=None):
                await self._record_denial(event, self._denials.pop(event.tool_use_id, None))
            case Compacted(agent_id=None):
                await self.write(self._compaction(event, history))
            case _ if isinstance(event, _Whole) and (record := self._record_of(event)) is not None:
                await self.write(record)
            case _:
                pass

    def _record_of(self, event: _Whole) -> Record | None:
        """Return the record of a self-contained event; None for those of a sub-agent."""
        match event:
            case MessageCommitted(agent_id=None):
                return MessageRecord(event.message, event.turn_id)
            case RequestStart(agent_id=None):
                return RequestRecord(event.turn_id, event.step, event.model)
            case UsageUpdate():
                return UsageRecord(
                    event.session_usage,
                    event.session_cost_usd,
                    event.context_tokens,
                    by_model=self._cost_by_model(),
                    limits=self._limits(),
                    rooms=self._rooms(),
                )
            case Tombstone(agent_id=None):
                return TombstoneRecord(event.message_uid, event.reason)
            case Notice(agent_id=None):
                return NoticeRecord(event.level, event.text, event.turn_id)
            case Terminal(agent_id=None):
                return TerminalRecord(event.turn_id, event.reason, event.detail)
            case _:
                return None

    def _compaction(self, event: Compacted, history: Sequence[Message]) -> CompactionRecord:
        return CompactionRecord(
            history=tuple(history),
            summary=event.summary,
            trigger=event.trigger,
            tokens_before=event.tokens_before,
            tokens_after=event.tokens_after,
            kept=event.kept_count,
            means=event.means,
            turn_id=event.turn_id,
            state={kind: to_json(record) for kind, record in self._latest.items()},
        )

    async def _record_denial(self, event: ToolResult, decision: Decision | None) -> None:
        if event.outcome != "denied":
            # The decision came too late: the call had already ended in another way.
            return
        why = denial_to_json(decision) if decision is not None else None
        await self.write(DenialRecord(event.tool_use_id, event.identifier, why))

    async def tool_started(
        self, call: ToolUse, tool_input: Mapping[str, object], agent_id: str | None
    ) -> None:
        """Record, on disk, that the call is about to run."""
        await self.write(ToolStart(call.id, call.name, self._turn_id, agent_id))

    async def tool_ended(
        self, call: ToolUse, block: Block, outcome: str, elapsed_s: float, identifier: str,
        agent_id: str | None, display: Display | None = None,
    ) -> None:  # fmt: skip
        """Record a call's result, on disk."""
        await self.write(
            ToolEnd(
                call.id,
                call.name,
                block,
                outcome,
                self._turn_id,
                elapsed_s,
                identifier,
                agent_id,
                diff_to_json(display) if outcome == "ok" else None,
                display.text if outcome != "ok" and isinstance(display, TextDisplay) else "",
            )
        )

    async def mode(self, mode: str) -> None:
        """Record the permission mode."""
        await self.write(ModeRecord(mode))

    async def todos(self, items: Sequence[TodoItem]) -> None:
        """Record the task list."""
        await self.write(TodosRecord(tuple(asdict(item) for item in items)))

    async def queue(self, prompts: Sequence[str]) -> None:
        """Record the queued prompts."""
        await self.write(QueueRecord(tuple(prompts)))

    async def draft(self, text: str) -> None:
        """Record the draft."""
        await self.write(DraftRecord(text))

    async def title(self, title: str) -> None:
        """Record the session's name."""
        self.is_titled = True
        await self.write(TitleRecord(title))

    async def system(self, blocks: Sequence[Block], digest: str = "") -> None:
        """Record the system prompt, once per conversation; see `agent.session.prefix_binding`."""
        await self.write(SystemRecord(tuple(blocks), digest))

    async def rewound(self, to_uid: str | None, history: Sequence[Message]) -> None:
        """Record that the conversation continues from an earlier message; `history` is the
        rest."""
        await self.write(RewindRecord(to_uid, tuple(history)))

    async def write(self, record: Record) -> bool:
        """Append one record; return whether it was written (if not, see `complaint`)."""
        if self._seal is not None and isinstance(record, GrantsRecord | ModeRecord):
            record = self._seal.seal(record)
        if record.kind in LAST_ONE_COUNTS:
            if self._latest.get(record.kind) == record:
                return True
            self._latest[record.kind] = record
        try:
            self._session.transcript.append(
                to_json(record), redact=partial(self._redact_record, record)
            )
            if record.kind in DURABLE:
                await self._session.transcript.flush()
        except SessionError as error:
            self._has_trouble = self._has_trouble or self._set_complaint(str(error))
        else:
            if self._has_trouble:
                self._set_complaint("The session is saved again; nothing is missing from it.")
            self._has_trouble = False
        return not self._has_trouble

    def _set_complaint(self, text: str) -> bool:
        self.complaint = text
        return True

    def _redact_record(self, record: Record, line: str) -> str:
        """Return the redacted line; a record with messages is marked if it was changed."""
        if self._redact is None:
            return line
        safe = self._redact(line)
        if safe == line or not isinstance(record, MessageRecord | CompactionRecord | RewindRecord):
            return safe
        return f'{safe[:-1]},"redacted":true}}'

    def seed(self, records: Sequence[Record]) -> None:
        """Load the latest states of a resumed session, which compactions include."""
        for record in records:
            if record.kind in LAST_ONE_COUNTS:
                self._latest[record.kind] = record

    async def aclose(self) -> None:
        """Write pending records and release the session for other processes."""
        # In a thread, so that the last flush does not block the event loop.
        await asyncio.to_thread(self._session.finish)
