"""Summaries of sessions for a picker, read from both ends of the file, plus the title."""

from __future__ import annotations

import mmap
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.errors import SessionError
from agent.files.image_mentions import with_image_labels
from agent.messages import Message
from agent.prompt.shell_command_note import as_typed
from agent.session.record_json import record_of
from agent.session.record_lines import decode, read_forwards
from agent.session.records import (
    MessageRecord,
    PromptRecord,
    Record,
    SessionHeader,
    TitleRecord,
    UsageRecord,
)
from agent.session.resume import tail
from agent.session.store import SessionInfo

HEAD_LINES: Final = 40
TAIL_RECORDS: Final = 60
PREVIEW_CHARACTERS: Final = 400
_TITLE_MARK: Final = b'"kind":"title"'
"""Marks a title's line; within a text, its quotes would be escaped."""


class SessionSummary(Struct, frozen=True):
    """One line of the picker, and its preview."""

    id: str
    path: Path
    project_dir: str
    launch_dir: str
    modified: datetime
    size_bytes: int
    title: str
    """The given title, or the start of the first prompt; empty if there is no prompt."""
    last_prompt: str
    last_answer: str
    cost_usd: float
    forked_from: str | None = None


def summarize(info: SessionInfo) -> SessionSummary:
    """Return the summary of a session. Raises SessionError if its file is unreadable."""
    header, first_prompt = _head(info.path)
    end = _End()
    for _, record in tail(info.path, limit=TAIL_RECORDS):
        end.apply(record)
    return SessionSummary(
        id=info.id,
        path=info.path,
        project_dir=header.project_dir if header else "",
        launch_dir=header.launch_dir if header else "",
        modified=info.modified,
        size_bytes=info.size_bytes,
        title=end.title or _last_title(info.path) or next(iter(first_prompt.splitlines()), "")[:80],
        last_prompt=end.last_prompt or first_prompt,
        last_answer=end.last_answer,
        cost_usd=end.cost_usd,
        forked_from=header.forked_from if header else None,
    )


class _End(Struct):
    """What the last records of a session contain."""

    title: str = ""
    last_prompt: str = ""
    last_answer: str = ""
    cost_usd: float = 0.0

    def apply(self, record: Record) -> None:
        """Process the next record."""
        match record:
            case TitleRecord():
                self.title = record.title
            case PromptRecord():
                self.last_prompt = _short(record.text)
            case MessageRecord(agent_id=None) if _is_typed_prompt(record.message):
                self.last_prompt = _short(record.message.text)
            case MessageRecord(agent_id=None):
                if record.message.role == "assistant" and record.message.text.strip():
                    self.last_answer = _short(record.message.text)
            case UsageRecord():
                self.cost_usd = record.session_cost_usd
            case _:
                pass


def _last_title(path: Path) -> str:
    """Return the newest title, anywhere in the file (0.2 s for 100 MB); empty if none."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            end = data.rfind(_TITLE_MARK)
            start = data.rfind(b"\n", 0, max(end, 0)) + 1
            line = decode(data[start : data.find(b"\n", end)], start) if end >= 0 else None
            record = record_of(line) if line is not None else None
    except (OSError, ValueError):
        return ""
    return record.title if isinstance(record, TitleRecord) else ""


def _head(path: Path) -> tuple[SessionHeader | None, str]:
    header: SessionHeader | None = None
    try:
        for line in islice(read_forwards(path), HEAD_LINES):
            match record := record_of(line):
                case SessionHeader():
                    header = record
                case PromptRecord() if record.text.strip():
                    return header, _short(record.text)
                case MessageRecord(agent_id=None) if _is_typed_prompt(record.message):
                    return header, _short(record.message.text)
                case _:
                    continue
    except OSError as error:
        raise SessionError(f"The session {path} cannot be read: {error.strerror}.") from error
    return header, ""


def _is_typed_prompt(message: Message) -> bool:
    return message.origin == "person" and bool(message.text.strip())


def _short(text: str) -> str:
    text = with_image_labels(as_typed(text.strip()))
    return text if len(text) <= PREVIEW_CHARACTERS else text[: PREVIEW_CHARACTERS - 1] + "…"
