"""Rebuilds a conversation by applying records one after the other."""

from __future__ import annotations

from msgspec.structs import replace

from agent.history import without_signed_summary
from agent.messages import Message
from agent.session.records import (
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
    SessionHeader,
    SystemRecord,
    TerminalRecord,
    TitleRecord,
    TodosRecord,
    TombstoneRecord,
    ToolEnd,
    ToolStart,
    UsageRecord,
)
from agent.session.team_records import MailAnswerRecord, MailRecord, TeamMembershipRecord
from agent.session.validity import CallState, Gap


class Replay:
    """A conversation being rebuilt, oldest record first. No tools are run."""

    def __init__(self) -> None:
        """Start before the first record."""
        self.entries: list[Message | Gap] = []
        self.calls: dict[str, CallState] = {}
        self.latest: dict[str, Record] = {}
        """The latest record of each kind in `LAST_ONE_COUNTS`, and the header."""
        self.model: str | None = None
        self.open_turn: str | None = None
        """Id of the turn that has not ended, if there is one."""
        self.open_prompt: str | None = None
        """The prompt of that turn, if it was not sent to the model."""
        self.is_waiting = False
        """Whether a request was sent and its answer has not arrived."""
        self.lost_rewinds = 0

    def apply(self, record: Record) -> None:
        """Apply the next record."""
        match record:
            case MessageRecord(agent_id=None):
                self._add(record.message, is_redacted=record.redacted)
            case ToolStart(agent_id=None):
                self.calls[record.tool_use_id] = CallState(has_started=True)
            case ToolEnd(agent_id=None):
                self.calls[record.tool_use_id] = CallState(has_started=True, block=record.block)
            case CompactionRecord():
                self.entries = _restart(record.history, record.redacted)
                self._measure_context(record.tokens_after)
            case RewindRecord():
                self._rewind(record)
                self._measure_context(0)
            case TombstoneRecord():
                self._withdraw(record.message_uid)
            case PromptRecord():
                self.open_turn, self.open_prompt = record.turn_id, record.text
            case RequestRecord(agent_id=None):
                self.is_waiting, self.open_prompt = True, None
            case TerminalRecord():
                self.open_turn, self.open_prompt, self.is_waiting = None, None, False
            case (
                UsageRecord()
                | GrantsRecord()
                | ModeRecord()
                | TodosRecord()
                | QueueRecord()
                | DraftRecord()
                | TitleRecord()
                | SystemRecord()
                | SessionHeader()
            ):
                self.latest[record.kind] = record
            case (
                MessageRecord()
                | ToolStart()
                | ToolEnd()
                | RequestRecord()
                | NoticeRecord()
                | DenialRecord()
                | TeamMembershipRecord()
                | MailRecord()
                | MailAnswerRecord()
            ):
                # Records of sub-agents, for display only, or for members of a team.
                pass

    def _add(self, message: Message, *, is_redacted: bool) -> None:
        if message.origin == "person":
            self.open_prompt = None
        if is_redacted:
            # Thinking is bound to every byte before it.
            self.entries.append(Gap())
        self.entries.append(message)
        if message.role == "assistant":
            self.is_waiting = False
            self.model = message.model or self.model

    def _withdraw(self, message_uid: str) -> None:
        self.entries = [e for e in self.entries if isinstance(e, Gap) or e.uid != message_uid]

    def _measure_context(self, tokens: int) -> None:
        """Set the size of the history after a change, in tokens; 0 means not measured."""
        usage = self.latest.get("usage")
        if isinstance(usage, UsageRecord):
            self.latest["usage"] = replace(usage, context_tokens=tokens)

    def _rewind(self, record: RewindRecord) -> None:
        if record.history is not None:
            self.entries = _restart(record.history, record.redacted)
            return
        uids = [None if isinstance(e, Gap) else e.uid for e in self.entries]
        if record.to_uid is None:
            self.entries = []
        elif record.to_uid in uids:
            self.entries = self.entries[: uids.index(record.to_uid) + 1]
        else:
            self.lost_rewinds += 1


def _restart(history: tuple[Message, ...], is_redacted: bool) -> list[Message | Gap]:
    # The endpoint's signature of its summary covers every character.
    return [Gap(), *without_signed_summary(history)] if is_redacted else list(history)
