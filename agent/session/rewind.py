"""Finds the points to which a conversation can be rewound, and its history at each."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from agent.errors import SessionError
from agent.messages import Message
from agent.prompt.shell_command_note import as_typed
from agent.session.record_json import record_of
from agent.session.record_lines import DamagedLine, Line, read_forwards
from agent.session.records import (
    CompactionRecord,
    MessageRecord,
    Record,
    RewindRecord,
    TombstoneRecord,
)
from agent.session.replay import Replay
from agent.session.validity import Gap, make_valid

_PREFACE: Final = frozenset({"reminder", "hook", "interruption"})


class RewindPoint(Struct, frozen=True):
    """A prompt to which the conversation can be rewound, before it was sent."""

    message_uid: str
    turn_id: str
    """Id under which `Checkpoints` stores the files as they were before this prompt."""
    text: str
    timestamp: str
    """Time at which it was sent; UTC, ISO 8601."""
    is_compacted: bool = False
    """Whether it was compacted; a rewind restores the full history."""


def rewind_points(path: Path) -> tuple[RewindPoint, ...]:
    """Return the user's prompts that are part of the conversation, oldest first.

    Raises:
        SessionError: the file cannot be read.
    """
    prompts = _Prompts()
    replay = Replay()
    try:
        for line in read_forwards(path):
            record = record_of(line)
            if record is not None and isinstance(line, Line):
                prompts.apply(record, line)
                replay.apply(record)
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    present = {entry.uid for entry in replay.entries if isinstance(entry, Message)}
    return tuple(replace(p, is_compacted=p.message_uid not in present) for p in prompts.points)


class _Prompts:
    """Collects the prompts of a conversation from its records."""

    def __init__(self) -> None:
        self.points: list[RewindPoint] = []
        self._order: dict[str, int] = {}
        """Byte offset at which each message, including summaries, was added."""

    def apply(self, record: Record, line: Line) -> None:
        """Process the next record."""
        match record:
            case MessageRecord(agent_id=None):
                self._add(record, line)
            case CompactionRecord():
                for message in record.history:
                    self._order.setdefault(message.uid, line.offset)
            case RewindRecord():
                last = self._order.get(record.to_uid or "", -1)
                self.points = [p for p in self.points if self._order[p.message_uid] <= last]
            case TombstoneRecord():
                self.points = [p for p in self.points if p.message_uid != record.message_uid]
            case _:
                pass

    def _add(self, record: MessageRecord, line: Line) -> None:
        message = record.message
        self._order[message.uid] = line.offset
        if message.origin == "person":
            text = as_typed(message.text.strip())
            self.points.append(RewindPoint(message.uid, record.turn_id, text, line.timestamp))


def history_before(path: Path, message_uid: str) -> tuple[Message, ...]:
    """Return the model's history right before a message, valid for the API.

    Raises:
        SessionError: the file cannot be read, or contains no such message.
    """
    replay = Replay()
    try:
        for line in read_forwards(path):
            record = record_of(line)
            if isinstance(record, MessageRecord) and record.message.uid == message_uid:
                return make_valid(_without_preface(replay.entries), replay.calls).messages
            if record is not None:
                replay.apply(record)
            elif isinstance(line, DamagedLine):
                replay.entries.append(Gap())
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    raise SessionError("That message is no longer in this session.")


def _without_preface(entries: list[Message | Gap]) -> list[Message | Gap]:
    """Drop the notes before the prompt, which belong to it and are sent again."""
    end = len(entries)
    while end:
        entry = entries[end - 1]
        if isinstance(entry, Gap) or entry.origin not in _PREFACE:
            break
        end -= 1
    return entries[:end]
