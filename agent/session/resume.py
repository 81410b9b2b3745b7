"""Rebuilds a conversation from its transcript, reading backwards to the last compaction.
No tools are run. Unreadable records are skipped and reported in `notes`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from agent.display import TodoItem
from agent.errors import SessionError
from agent.events import Usage
from agent.messages import Block, Message
from agent.session.record_json import UnreadableRecord, from_json, record_of
from agent.session.record_lines import (
    FORMAT_VERSION,
    DamagedLine,
    Line,
    read_backwards,
    read_forwards,
)
from agent.session.records import (
    LAST_ONE_COUNTS,
    CompactionRecord,
    DenialRecord,
    DraftRecord,
    GrantsRecord,
    MessageRecord,
    ModeRecord,
    NoticeRecord,
    QueueRecord,
    Record,
    RequestRecord,
    SessionHeader,
    SystemRecord,
    TitleRecord,
    TodosRecord,
    ToolEnd,
    ToolStart,
    UsageRecord,
)
from agent.session.replay import Replay
from agent.session.validity import Gap, RepairedHistory, make_valid

_TODO_STATUS: Final = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}

RecordT = TypeVar("RecordT", bound=Record)


class ResumedConversation(Struct, frozen=True):
    """Everything a conversation needs to continue."""

    header: SessionHeader | None
    messages: tuple[Message, ...]
    """The history for the model, valid for the API."""
    usage: Usage = field(default_factory=Usage)
    cost_usd: float = 0.0
    context_tokens: int = 0
    cost_by_model: Mapping[str, object] | None = None
    limits: Mapping[str, tuple[int, int]] | None = None
    rooms: Mapping[str, tuple[int, int]] | None = None
    """See `UsageRecord`."""
    model: str | None = None
    """The model of the last answer."""
    grants: GrantsRecord = GrantsRecord()
    """The user's grants for this session."""
    todos: tuple[TodoItem, ...] = ()
    mode_record: ModeRecord | None = None
    queued_prompts: tuple[str, ...] = ()
    """Prompts that were not sent to the model, oldest first."""
    draft: str = ""
    title: str = ""
    system: tuple[Block, ...] = ()
    """The system prompt as sent; empty if none was recorded."""
    prefix_digest: str = ""
    """Digest of system prompt and tools; see `agent.session.prefix_binding`."""
    states: tuple[Record, ...] = ()
    """The latest record of each kind in `LAST_ONE_COUNTS`."""
    unfinished_turn: str | None = None
    """Id of a turn without an end: the program was killed during it."""
    notes: tuple[str, ...] = ()
    """What was lost or repaired, for users; empty after a clean exit."""

    @property
    def mode(self) -> str | None:
        """The last permission mode."""
        return self.mode_record.mode if self.mode_record is not None else None


def load(path: Path) -> ResumedConversation:
    """Rebuild the conversation of a transcript.

    Raises:
        SessionError: the file cannot be read at all.
    """
    try:
        return _Rebuild(path).run()
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error


def tail(path: Path, *, limit: int, end: int | None = None) -> tuple[tuple[int, Record], ...]:
    """Return up to `limit` records before an offset (or the end), oldest first, with their offsets.

    For the screen after a resume, and for paging back: the time does not depend on the size of
    the file. Raises SessionError.
    """
    records: list[tuple[int, Record]] = []
    try:
        for line in read_backwards(path, end=end):
            record = record_of(line)
            if isinstance(line, Line) and record is not None:
                records.append((line.offset, record))
                if len(records) >= limit:
                    break
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    return tuple(reversed(records))


def header_of(path: Path) -> SessionHeader | None:
    """Return a transcript's header, or None if it is missing or damaged. Raises OSError."""
    first = next(read_forwards(path), None)
    record = record_of(first) if first is not None else None
    return record if isinstance(record, SessionHeader) else None


class _Rebuild:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._replay = Replay()
        self._answered_calls: set[str] = set()
        self._settled_kinds: set[str] = set()
        self._damaged_count = 0
        self._torn_bytes = 0
        self._newer = 0
        self._last: Record | None = None

    def run(self) -> ResumedConversation:
        for entry in reversed(list(self._records_backwards())):
            if isinstance(entry, Gap):
                self._replay.entries.append(entry)
            else:
                self._replay.apply(entry)
        history = make_valid(self._replay.entries, self._replay.calls)
        return self._result(history)

    def _records_backwards(self) -> Iterator[Record | Gap]:
        """Yield records backwards, up to one that needs nothing before it."""
        next_seq: int | None = None
        for line in read_backwards(self._path):
            if isinstance(line, DamagedLine):
                if line.reason == "torn":
                    self._torn_bytes = line.length
                else:
                    self._damaged_count += 1
                    yield Gap()
                continue
            if next_seq is not None and line.seq < next_seq - 1:
                yield Gap()
            next_seq = line.seq
            record = self._read(line)
            if isinstance(record, Gap):
                yield record
            if record is None or isinstance(record, Gap):
                continue
            self._last = self._last or record
            if self._is_needed(record):
                yield record
            if isinstance(record, CompactionRecord) and record.state is not None:
                self._replay.latest.update(_states(record.state))
                return

    def _read(self, line: Line) -> Record | Gap | None:
        try:
            record = from_json(line.data)
        except UnreadableRecord:
            self._damaged_count += 1
            return Gap()
        if record is None:
            self._newer += line.version > FORMAT_VERSION
        return record

    def _is_needed(self, record: Record) -> bool:
        """Return whether a record has an effect, given the later records, which were read first."""
        match record:
            case MessageRecord(agent_id=None):
                self._answered_calls.update(
                    str(block.get("tool_use_id"))
                    for block in record.message.content
                    if block.get("type") == "tool_result"
                )
                return True
            case ToolStart(agent_id=None) | ToolEnd(agent_id=None):
                return record.tool_use_id not in self._answered_calls
            case RequestRecord(agent_id=None):
                return True
            case MessageRecord() | ToolStart() | ToolEnd() | RequestRecord() | NoticeRecord():
                return False
            case DenialRecord():
                return False
            case _ if record.kind in LAST_ONE_COUNTS:
                is_latest = record.kind not in self._settled_kinds
                self._settled_kinds.add(record.kind)
                return is_latest
            case _:
                return True

    def _result(self, history: RepairedHistory) -> ResumedConversation:
        usage = self._latest(UsageRecord) or UsageRecord(Usage(), 0.0, 0)
        draft = self._latest(DraftRecord) or DraftRecord("")
        title = self._latest(TitleRecord) or TitleRecord("")
        system = self._latest(SystemRecord) or SystemRecord(())
        header = self._latest(SessionHeader) or header_of(self._path)
        latest = self._replay.latest
        return ResumedConversation(
            header=header,
            messages=history.messages,
            usage=usage.session_usage,
            cost_usd=usage.session_cost_usd,
            context_tokens=usage.context_tokens,
            cost_by_model=usage.by_model,
            limits=usage.limits,
            rooms=usage.rooms,
            model=self._replay.model,
            grants=self._latest(GrantsRecord) or GrantsRecord(),
            todos=_todos(latest.get("todos")),
            mode_record=self._latest(ModeRecord),
            queued_prompts=self._queued_prompts(),
            draft=draft.text,
            title=title.title,
            system=system.blocks,
            prefix_digest=system.digest,
            states=tuple(latest[kind] for kind in LAST_ONE_COUNTS if kind in latest),
            unfinished_turn=self._replay.open_turn,
            notes=tuple(self._notes(history, self._interruption_phrase(header))),
        )

    def _queued_prompts(self) -> tuple[str, ...]:
        """Return the prompt that was not sent, and the queued ones after it."""
        unsent = (self._replay.open_prompt,) if self._replay.open_prompt else ()
        queue = self._latest(QueueRecord)
        return (*unsent, *(queue.prompts if queue else ()))

    def _latest(self, kind: type[RecordT]) -> RecordT | None:
        records = self._replay.latest.values()
        return next((record for record in records if isinstance(record, kind)), None)

    def _interruption_phrase(self, header: SessionHeader | None) -> str:
        """Return when unfinished work was interrupted, as the end of a sentence."""
        # An unused copy ends with an empty grants record. Its original may continue elsewhere.
        is_fresh_copy = self._last == GrantsRecord()
        if is_fresh_copy and header is not None and header.forked_from:
            return "when the copy was made"
        return "when the program ended"

    def _notes(self, history: RepairedHistory, when: str) -> Iterator[str]:
        if self._torn_bytes:
            yield f"The last record was cut off ({self._torn_bytes:,} bytes) and was skipped."
        if self._damaged_count:
            yield (
                f"{self._damaged_count} damaged records of the transcript were skipped; "
                "their content is missing from the conversation."
            )
        if self._newer:
            yield f"{self._newer} records of a newer version of the program were skipped."
        if self._replay.lost_rewinds:
            yield "A rewind could not be applied: its target message is missing."
        if history.unknown_outcomes:
            yield (
                f"Was running {when}; outcome unknown: "
                f"{_count_names(history.unknown_outcomes)}. Not run again."
            )
        if history.not_run:
            yield f"Not run (program was closed): {_count_names(history.not_run)}."
        if self._replay.is_waiting:
            yield f"The model's answer was not finished {when} and is missing."


def _todos(record: Record | None) -> tuple[TodoItem, ...]:
    if not isinstance(record, TodosRecord):
        return ()
    return tuple(
        TodoItem(
            str(entry.get("content", "")),
            _status(entry.get("status")),
            str(entry.get("active_form", "")),
        )
        for entry in record.items
    )


def _status(text: object) -> Any:
    return _TODO_STATUS.get(str(text), "pending")


def _states(state: Mapping[str, object]) -> dict[str, Record]:
    records: dict[str, Record] = {}
    for kind in (*LAST_ONE_COUNTS, "session"):
        data = state.get(kind)
        if isinstance(data, Mapping):
            try:
                record = from_json(data)
            except UnreadableRecord:
                continue
            if record is not None:
                records[kind] = record
    return records


def _count_names(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} ({n}×)" if n > 1 else name for name, n in Counter(names).items())
