"""Reads a session for display, page by page from its end.

The cost of a page does not depend on the size of the file, and nothing is cached here. Withdrawn
messages (by a rewind or tombstone) are skipped; messages before a compaction are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from agent.display import DiffDisplay, TextDisplay
from agent.errors import SessionError
from agent.messages import Message
from agent.session.record_json import record_of
from agent.session.record_lines import Line, read_backwards
from agent.session.records import (
    CompactionRecord,
    DenialRecord,
    MessageRecord,
    NoticeRecord,
    Record,
    RewindRecord,
    TombstoneRecord,
    ToolEnd,
)
from agent.session.shown_json import denial_from_json, diff_from_json
from permissions.base.text.failure_text import error_reason
from permissions.decision import Decision

PAGE_ITEMS: Final = 60
PAGE_BYTES: Final = 1_000_000
"""Limits of a page, which ends at the next suitable record beyond either."""

PastItem = Message | CompactionRecord | NoticeRecord


class PastCall(Struct, frozen=True):
    """How a call ended, in addition to its result."""

    identifier: str
    outcome: str
    elapsed_s: float
    display: DiffDisplay | TextDisplay | None = None
    """Its change of a file, or the user's text about its failure."""
    denial: Decision | None = None
    """The denial of the call; None if there is none, or if a hook stopped the turn."""


class HistoryPage(Struct, frozen=True):
    """A section of the past, oldest first. No call is separated from its result."""

    items: tuple[PastItem, ...]
    calls: Mapping[str, PastCall] = field(default_factory=dict)
    """Calls by id; of those that never ran, only the denied ones."""
    offset: int = 0
    """Byte offset of its start in the file, unique to the page."""


class SessionPages:
    """Reads one session backwards; call `older` in a thread."""

    def __init__(self, path: Path) -> None:
        """Read nothing yet."""
        self.path = path
        self._end: int | None = None
        self._is_at_start = False
        self._back_to: str | None = None
        self._withdrawn: set[str] = set()

    @property
    def is_at_start(self) -> bool:
        """Whether the start of the file was reached."""
        return self._is_at_start

    def older(self) -> HistoryPage:
        """Return the page before the last one returned; empty at the start.

        Raises:
            SessionError: the file cannot be read.
        """
        if self._is_at_start:
            return HistoryPage(())
        try:
            return self._page()
        except OSError as error:
            raise SessionError(
                f"The session {self.path} cannot be read: {error_reason(error, names_file=False)}."
            ) from error

    def _page(self) -> HistoryPage:
        items: list[PastItem] = []
        calls: dict[str, PastCall] = {}
        start = self._end
        for offset, record in self._records():
            start = offset if start is None else start
            match record:
                case ToolEnd(agent_id=None) | DenialRecord(agent_id=None):
                    calls[record.tool_use_id] = _past_call(record)
                case MessageRecord():
                    items.append(record.message)
                case CompactionRecord() | NoticeRecord():
                    items.append(record)
                case _:
                    continue
            self._end = offset
            is_large = len(items) >= PAGE_ITEMS or start - offset >= PAGE_BYTES
            if is_large and _may_begin_page(record):
                break
        else:
            self._is_at_start = True
        items.reverse()
        return HistoryPage(tuple(items), calls, self._end or 0)

    def _records(self) -> Iterator[tuple[int, Record]]:
        """Yield the records of the conversation, the latest first."""
        for line in read_backwards(self.path, end=self._end):
            record = record_of(line)
            if record is None or not isinstance(line, Line):
                continue
            if self._back_to is not None:
                if not self._is_reached(record):
                    continue
                self._back_to = None
            match record:
                case RewindRecord(to_uid=None):
                    return
                case RewindRecord():
                    self._back_to = record.to_uid
                case TombstoneRecord():
                    self._withdrawn.add(record.message_uid)
                case _ if self._is_shown(record):
                    yield line.offset, record
                case _:
                    pass

    def _is_shown(self, record: Record) -> bool:
        if not isinstance(record, MessageRecord):
            return True
        return record.agent_id is None and record.message.uid not in self._withdrawn

    def _is_reached(self, record: Record) -> bool:
        match record:
            case MessageRecord():
                return record.message.uid == self._back_to
            case CompactionRecord():
                # The summary message is in no other record.
                return any(m.uid == self._back_to and m.origin == "summary" for m in record.history)
            case _:
                return False


def _may_begin_page(record: Record) -> bool:
    return isinstance(record, MessageRecord) and record.message.origin != "tool"


def _past_call(record: ToolEnd | DenialRecord) -> PastCall:
    if isinstance(record, DenialRecord):
        denial = denial_from_json(record.decision)
        return PastCall(record.identifier, "denied", 0.0, denial=denial)
    display = TextDisplay(record.fact) if record.fact else diff_from_json(record.change)
    return PastCall(record.identifier, record.outcome, record.elapsed_s, display)
