"""Agent events written to a session's transcript, secrets taken out; a full disk stops nothing.

What must be on the disk before the conversation goes on is awaited here, in a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from agent.display import TodoItem
from agent.errors import SessionError
from agent.events import (
    AgentEvent,
    Compacted,
    Complete,
    ErrorEvent,
    HookFinished,
    HookStarted,
    MessageCommitted,
    ModelFallback,
    Notice,
    PermissionRequested,
    PermissionResolved,
    RequestStart,
    RetryScheduled,
    Terminal,
    TextDelta,
    ThinkingDelta,
    Tombstone,
    ToolDispatch,
    ToolInputDelta,
    ToolProgress,
    ToolResult,
    UsageUpdate,
)
from agent.messages import Block, Message
from agent.session.records import (
    DURABLE,
    LAST_ONE_COUNTS,
    CheckpointRecord,
    CompactionRecord,
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
    TerminalRecord,
    TitleRecord,
    TodosRecord,
    TombstoneRecord,
    ToolEnd,
    ToolStart,
    UsageRecord,
    message_from_json,
    message_to_json,
    to_json,
)
from agent.session.redact import Redactor
from agent.session.transcript import Transcript

_NOTHING: Final = Redactor()


class SessionRecorder:
    """Writes what happens in one conversation; its methods never raise for a disk that fails."""

    def __init__(
        self,
        transcript: Transcript,
        *,
        redactor: Redactor = _NOTHING,
        on_problem: Callable[[str], None] | None = None,
    ) -> None:
        """`on_problem` hears once when the disk stops taking records, and why."""
        self._transcript = transcript
        self._redactor = redactor
        self._on_problem = on_problem
        self._latest: dict[str, Mapping[str, Any]] = {}
        self.problem: str | None = None
        """Why records wait in memory at the moment; None while all is well."""

    async def on_event(self, event: AgentEvent) -> None:
        """Record what of an event belongs into the transcript."""
        record = record_of(event)
        if record is not None:
            await self.write(record)

    async def prompt(self, turn_id: str, text: str) -> None:
        """A person's prompt starts."""
        await self.write(PromptRecord(turn_id, text))

    async def tool_started(
        self, tool_use_id: str, name: str, *, turn_id: str = "", agent_id: str | None = None
    ) -> None:
        """A tool runs next: returns when that is on the disk. Call it once permission is given."""
        await self.write(ToolStart(tool_use_id, name, turn_id, agent_id))

    async def tool_ended(
        self,
        tool_use_id: str,
        name: str,
        block: Block,
        outcome: str,
        *,
        turn_id: str = "",
        elapsed_s: float = 0.0,
        identifier: str = "",
        agent_id: str | None = None,
    ) -> None:
        """A call has its result block: returns when that is on the disk."""
        await self.write(
            ToolEnd(tool_use_id, name, block, outcome, turn_id, elapsed_s, identifier, agent_id)
        )

    async def compacted(self, event: Compacted, history: Sequence[Message]) -> None:
        """The model's history was replaced by `history`."""
        await self.write(
            CompactionRecord(
                history=tuple(history),
                summary=event.summary,
                trigger=event.trigger,
                tokens_before=event.tokens_before,
                tokens_after=event.tokens_after,
                turn_id=event.turn_id,
                state=dict(self._latest),
            )
        )

    async def rewound(self, to_uid: str | None, history: Sequence[Message]) -> None:
        """The conversation continues from an earlier message; `history` is all that stays."""
        await self.write(RewindRecord(to_uid, tuple(history)))

    async def grants(self, grants: Iterable[tuple[str, str]]) -> None:
        """All `(behavior, rule)` granted for the session so far."""
        await self.write(GrantsRecord(tuple(grants)))

    async def mode(self, mode: str) -> None:
        """The permission mode changed."""
        await self.write(ModeRecord(mode))

    async def todos(self, items: Iterable[TodoItem]) -> None:
        """The whole task list."""
        await self.write(TodosRecord(tuple(asdict(item) for item in items)))

    async def queue(self, prompts: Iterable[str]) -> None:
        """All prompts that wait."""
        await self.write(QueueRecord(tuple(prompts)))

    async def draft(self, text: str) -> None:
        """The half-typed prompt."""
        await self.write(DraftRecord(text))

    async def title(self, title: str) -> None:
        """The session's name."""
        await self.write(TitleRecord(title))

    async def usage(self, record: UsageRecord) -> None:
        """Totals, with what the cost tracker wants back."""
        await self.write(record)

    async def checkpoint(self, record: CheckpointRecord) -> None:
        """Files were kept."""
        await self.write(record)

    async def write(self, record: Record) -> None:
        """Write one record, durably where its kind asks for that."""
        data = self._redacted(record)
        if record.kind in LAST_ONE_COUNTS:
            self._latest[record.kind] = data
        try:
            self._transcript.append(data)
            if record.kind in DURABLE:
                await self._transcript.flush()
            self.problem = None
        except SessionError as error:
            if self.problem is None and self._on_problem is not None:
                self._on_problem(str(error))
            self.problem = str(error)

    def restore(self, latest: Iterable[Record]) -> None:
        """Take over the state of a resumed session, so that its next compaction carries it."""
        for record in latest:
            if record.kind in LAST_ONE_COUNTS:
                self._latest[record.kind] = to_json(record)

    def _redacted(self, record: Record) -> dict[str, Any]:
        if isinstance(record, MessageRecord):
            data = message_to_json(record.message)
            safe = self._redactor.json(data)
            if safe is not data:
                record = replace(record, message=message_from_json(safe), redacted=True)
            return to_json(record)
        plain = to_json(record)
        safe_plain = self._redactor.json(plain)
        if safe_plain is not plain and isinstance(record, CompactionRecord | RewindRecord):
            return {**safe_plain, "redacted": True}
        return dict(safe_plain)


def record_of(event: AgentEvent) -> Record | None:
    """Return the record of an event, or None where nothing of it needs to be kept.

    Tools and compactions are recorded by the recorder's own methods: they hold more than the event.
    """
    match event:
        case MessageCommitted():
            return MessageRecord(event.message, event.turn_id, event.agent_id)
        case RequestStart():
            return RequestRecord(event.turn_id, event.step, event.model, event.agent_id)
        case UsageUpdate(agent_id=None):
            return UsageRecord(event.session_usage, event.session_cost_usd, event.context_tokens)
        case Tombstone():
            return TombstoneRecord(event.message_uid, event.reason)
        case Notice():
            return NoticeRecord(event.level, event.text, event.turn_id)
        case ErrorEvent():
            return NoticeRecord("error", event.message, event.turn_id)
        case ModelFallback():
            text = f"{event.to_model} takes over from {event.from_model}: {event.reason}"
            return NoticeRecord("warning", text, event.turn_id)
        case HookFinished() if event.notices:
            return NoticeRecord("warning", "\n".join(event.notices), event.turn_id)
        case Terminal(agent_id=None):
            return TerminalRecord(event.turn_id, event.reason, event.detail)
        case (
            TextDelta()
            | ThinkingDelta()
            | ToolInputDelta()
            | ToolDispatch()
            | ToolProgress()
            | ToolResult()
            | PermissionRequested()
            | PermissionResolved()
            | HookStarted()
            | HookFinished()
            | UsageUpdate()
            | RetryScheduled()
            | Compacted()
            | Complete()
            | Terminal()
        ):
            return None
