"""A session stored as a session file of the program, which `agent-tui -r ID` can open, too."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from agent.events import Compacted
from agent.library.base.raw_items import InputItem, RawItem
from agent.library.models.item_messages import input_items, messages_of
from agent.library.program.program_setup import read_setup
from agent.library.sessions.item_session import SessionABC, SessionSettings, session_settings
from agent.messages import Message
from agent.session import resume
from agent.session.record_json import to_json
from agent.session.records import (
    CompactionRecord,
    MessageRecord,
    PromptRecord,
    Record,
    RewindRecord,
    TerminalRecord,
)
from agent.session.store import Session, SessionStore, valid_id
from permissions.base.text.redactor import Redactor, secrets_of


class TranscriptSession(SessionABC):
    """One conversation among the program's sessions; its file is locked only during a change."""

    def __init__(
        self,
        session_id: str | None = None,
        *,
        directory: Path | None = None,
        settings: SessionSettings | Mapping[str, RawItem] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Open or name a session; nothing is written before its first item.

        Args:
            session_id: A UUID of an existing or a new session; None generates one.
            directory: The project; None means the current directory.
            settings: How the session is read, as for other sessions.
            env: Environment variables; None means the process's.

        Raises:
            SessionError: the id is not a UUID.
            ConfigError: required settings are invalid.
        """
        self.session_id = valid_id(session_id or str(uuid.uuid4()))
        self.session_settings = session_settings(settings)
        setup = read_setup(directory, env)
        environment = setup.environment
        self._project = setup.settings.project_root
        self._launch_dir = environment.launch_dir
        self._store = SessionStore(environment.agent_home)
        self.path = self._store.directory(self._project) / f"{self.session_id}.jsonl"
        self._redact = Redactor(secrets_of({**environment.env, **setup.settings.env})).line

    async def get_items(self, limit: int | None = None) -> list[InputItem]:
        """Return the latest items, oldest first, as the model gets them after a resume.

        Raises:
            SessionError: the file cannot be read.
        """
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = await asyncio.to_thread(self._items)
        return items if limit is None else items[len(items) - limit :] if limit > 0 else []

    async def add_items(self, items: list[InputItem]) -> None:
        """Append items.

        Raises:
            SessionLocked: another process has the session open.
            SessionError: the file cannot be written.
        """
        if items:
            await asyncio.to_thread(self._write, _records(messages_of(items)))

    async def record_compaction(self, messages: Sequence[Message], event: Compacted) -> None:
        """Replace the history by a shorter one; the file keeps all. Raises as `add_items`."""
        record = CompactionRecord(
            tuple(messages), event.summary, event.trigger, event.tokens_before, event.tokens_after
        )
        await asyncio.to_thread(self._write, [record])

    async def pop_item(self) -> InputItem | None:
        """Remove the latest item and return it; None if there is none. Raises as `add_items`."""
        items = await asyncio.to_thread(self._items)
        if not items:
            return None
        await asyncio.to_thread(self._write, [RewindRecord(None, messages_of(items[:-1]))])
        return items[-1]

    async def clear_session(self) -> None:
        """Clear the history; the file keeps old records. Raises as `add_items`."""
        if self.path.exists():
            await asyncio.to_thread(self._write, [RewindRecord(None, ())])

    def _items(self) -> list[InputItem]:
        if not self.path.exists():
            return []
        messages = resume.load(self.path).messages
        return [item for message in messages for item in input_items(message)]

    def _write(self, records: Sequence[Record]) -> None:
        with contextlib.closing(self._open()) as session:
            for record in records:
                session.transcript.append(to_json(record), redact=self._redact)
            session.transcript.sync()

    def _open(self) -> Session:
        if self.path.exists():
            return self._store.open(self.session_id)
        return self._store.create(
            self._project, launch_dir=self._launch_dir, session_id=self.session_id
        )


def _records(messages: Sequence[Message]) -> list[Record]:
    """Return messages as session records, with the turn of each prompt recorded as completed."""
    records: list[Record] = []
    for message in messages:
        if message.role == "assistant":
            records.append(MessageRecord(message))
        elif all(block.get("type") == "tool_result" for block in message.content):
            records.append(MessageRecord(replace(message, origin="tool")))
        else:
            turn_id = message.uid
            records += [PromptRecord(turn_id, message.text), MessageRecord(message, turn_id)]
            records.append(TerminalRecord(turn_id, "completed"))
    return records
