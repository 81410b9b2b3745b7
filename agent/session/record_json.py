"""Converts records to JSON objects and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import asdict, fields

from agent.events import Usage
from agent.messages import Message
from agent.session.record_lines import DamagedLine, Line
from agent.session.records import (
    AgentRecord,
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

_KINDS: Final[dict[str, type[Record]]] = {
    "session": SessionHeader,
    "agent": AgentRecord,
    "prompt": PromptRecord,
    "request": RequestRecord,
    "message": MessageRecord,
    "tool_start": ToolStart,
    "tool_end": ToolEnd,
    "denial": DenialRecord,
    "usage": UsageRecord,
    "grants": GrantsRecord,
    "mode": ModeRecord,
    "todos": TodosRecord,
    "queue": QueueRecord,
    "draft": DraftRecord,
    "title": TitleRecord,
    "system": SystemRecord,
    "compaction": CompactionRecord,
    "rewind": RewindRecord,
    "tombstone": TombstoneRecord,
    "notice": NoticeRecord,
    "terminal": TerminalRecord,
    "team-membership": TeamMembershipRecord,
    "mail": MailRecord,
    "mail_answer": MailAnswerRecord,
}


class UnreadableRecord(ValueError):
    """A record's data does not match its kind."""


def to_json(record: Record) -> dict[str, object]:
    """Return a record as a JSON object with its `kind`."""
    match record:
        case MessageRecord():
            data = _plain(record, skip="message")
            return {**data, **_for_hooks(record), "message": message_to_json(record.message)}
        case CompactionRecord() | RewindRecord():
            data = _plain(record, skip="history")
            history = record.history
            history_json = None if history is None else [message_to_json(m) for m in history]
            return {**data, "history": history_json}
        case UsageRecord():
            data = _plain(record, skip="session_usage")
            return {**data, "session_usage": asdict(record.session_usage)}
        case _:
            return _plain(record)


def _for_hooks(record: MessageRecord) -> dict[str, object]:
    """Return fields that hooks written for Claude Code expect in a transcript's line.

    They repeat data of the record, and are ignored on reading.
    """
    message = record.message
    is_meta = message.role != "assistant" and message.origin not in ("person", "tool")
    return {
        # Claude Code's lines of the type `system` mean something else.
        "type": "user" if message.role == "system" else message.role,
        "isSidechain": record.agent_id is not None,
        **({"isMeta": True} if is_meta else {}),
    }


def from_json(data: Mapping[str, Any]) -> Record | None:
    """Parse a record; None if this version does not know its kind.

    Raises:
        UnreadableRecord: the kind is known, but the data does not match it.
    """
    kind = _KINDS.get(str(data.get("kind")))
    if kind is None:
        return None
    names = set(kind.__struct_fields__)
    values = {key: value for key, value in data.items() if key in names}
    try:
        _read_nested(kind, values)
        record = kind(**values)
        _check_texts(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableRecord(f"{data.get('kind')}: {error}") from error
    return record


def record_of(line: Line | DamagedLine) -> Record | None:
    """Return a line's record; None if the line or the record is damaged, or its kind unknown."""
    try:
        return from_json(line.data) if isinstance(line, Line) else None
    except UnreadableRecord:
        return None


def message_to_json(message: Message) -> dict[str, object]:
    """Return a message with all its fields as JSON; blocks are unchanged."""
    data: dict[str, object] = {
        "role": message.role,
        "content": list(message.content),
        "origin": message.origin,
        "uid": message.uid,
    }
    for name in ("model", "api_id", "stop_reason"):
        value = getattr(message, name)
        if value is not None:
            data[name] = value
    return data


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Parse a message.

    Raises:
        UnreadableRecord: the data is not a message.
    """
    try:
        content = data["content"]
        role = data["role"]
        if not isinstance(content, list) or not all(isinstance(b, dict) for b in content):
            raise UnreadableRecord("message content is not a list of blocks")
        if role not in ("user", "assistant", "system"):
            raise UnreadableRecord(f"unknown role {role!r}")
        return Message(
            role=role,
            content=tuple(content),
            origin=data.get("origin", "person" if role == "user" else "model"),
            uid=str(data["uid"]),
            model=data.get("model"),
            api_id=data.get("api_id"),
            stop_reason=data.get("stop_reason"),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadableRecord(f"message: {error!r}") from error


def usage_from_json(data: Mapping[str, Any]) -> Usage:
    """Return token counts; unknown fields are skipped, absent ones are 0."""
    names = set(Usage.__struct_fields__)
    return Usage(**{key: int(value) for key, value in data.items() if key in names})


def _read_nested(kind: type[Record], values: dict[str, Any]) -> None:
    """Replace nested JSON values by the record's types."""
    if kind is MessageRecord:
        values["message"] = message_from_json(values["message"])
    elif kind in (CompactionRecord, RewindRecord) and values.get("history") is not None:
        values["history"] = tuple(message_from_json(m) for m in values["history"])
    elif kind is UsageRecord:
        values["session_usage"] = usage_from_json(values["session_usage"])
        for name in ("limits", "rooms"):
            pairs = (values.get(name) or {}).items()
            values[name] = {model: (int(first), int(second)) for model, (first, second) in pairs}
    elif kind is GrantsRecord:
        values["grants"] = tuple((str(b), str(text)) for b, text in values["grants"])
        for name in ("directories", "hosts"):
            values[name] = tuple(map(str, values.get(name) or ()))
    for name in {"items", "prompts", "blocks"} & values.keys():
        values[name] = tuple(values[name])
        if name != "prompts" and not all(isinstance(part, dict) for part in values[name]):
            raise UnreadableRecord(f"{name}: expected objects")


def _plain(record: Record, skip: str = "") -> dict[str, object]:
    return {name: getattr(record, name) for name in record.__struct_fields__ if name != skip}


def _check_texts(record: Record) -> None:
    for field in fields(record):
        value = getattr(record, field.name)
        if field.type is str and not isinstance(value, str):
            raise UnreadableRecord(f"{field.name} is not a string")
        if field.type is float and not isinstance(value, int | float):
            raise UnreadableRecord(f"{field.name} is not a number")
        if field.type is int and not isinstance(value, int):
            raise UnreadableRecord(f"{field.name} is not a whole number")
