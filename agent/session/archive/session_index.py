"""Search in all sessions: an SQLite full-text index beside the transcripts.

The index is only a cache: it can be deleted at any time, and is rebuilt from the files. A file is
read from where the last reading ended.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from agent.session.record_json import UnreadableRecord, from_json
from agent.session.record_lines import Line, read_forwards
from agent.session.records import MessageRecord, PromptRecord, SessionHeader, TitleRecord
from agent.session.store import SessionInfo
from permissions.base.files.private_file import make_private_file

SCHEMA_VERSION: Final = 1
MAX_TEXT_CHARACTERS: Final = 20_000
"""Most indexed characters of one message."""
_BUSY_TIMEOUT_S: Final = 2.0
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS session(
    id TEXT PRIMARY KEY, path TEXT NOT NULL, project_dir TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '', modified_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    read_to INTEGER NOT NULL
);
CREATE VIRTUAL TABLE IF NOT EXISTS text USING fts5(
    body, session_id UNINDEXED, role UNINDEXED, offset UNINDEXED,
    tokenize = "unicode61 remove_diacritics 2"
);
"""


class SearchHit(Struct, frozen=True):
    """One match."""

    session_id: str
    path: Path
    project_dir: str
    title: str
    role: str
    """`user`, `assistant` or `title`."""
    snippet: str
    """The match with context; matched words are between `MARK_START` and `MARK_END`."""
    offset: int
    """Byte offset of the record in the transcript."""


MARK_START: Final = "\x02"
MARK_END: Final = "\x03"


class SessionIndex:
    """The index file. Every method raises `sqlite3.Error` if the file is unusable."""

    def __init__(self, path: Path) -> None:
        """Open or create the index (0600); an unreadable or older one is rebuilt."""
        self._path = path
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError:
            for leftover in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
                leftover.unlink(missing_ok=True)
            self._connection = self._open()

    def refresh(self, sessions: Iterable[SessionInfo]) -> int:
        """Update the index from the files; return how many sessions were read.

        Sessions that are not among the given ones are removed from the index.
        """
        present: set[str] = set()
        read = 0
        with self._connection as connection:
            stored_states = {
                row[0]: row[1:]
                for row in connection.execute("SELECT id, modified_ns, inode, read_to FROM session")
            }
            for info in sessions:
                present.add(info.id)
                with contextlib.suppress(OSError):
                    read += self._refresh_one(info, stored_states.get(info.id))
            for session_id in stored_states.keys() - present:
                self._forget(session_id)
        return read

    def search(self, words: str, *, limit: int = 50) -> tuple[SearchHit, ...]:
        """Return matches for all words (the last may be a prefix), best first."""
        query = _query(words)
        if not query:
            return ()
        rows = self._connection.execute(
            "SELECT session.id, session.path, session.project_dir, session.title, text.role,"
            " snippet(text, 0, ?, ?, '…', 16), text.offset"
            " FROM text JOIN session ON session.id = text.session_id"
            " WHERE text MATCH ? ORDER BY rank, session.modified_ns DESC LIMIT ?",
            (MARK_START, MARK_END, query, limit),
        )
        return tuple(SearchHit(r[0], Path(r[1]), *r[2:]) for r in rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _open(self) -> sqlite3.Connection:
        # Created by us first, so that it is private from the start.
        make_private_file(self._path)
        connection = sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version not in (0, SCHEMA_VERSION):
                raise sqlite3.DatabaseError("made by another version")
            connection.executescript(_SCHEMA)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.commit()
        except BaseException:
            connection.close()
            raise
        return connection

    def _refresh_one(self, info: SessionInfo, stored_state: tuple[int, int, int] | None) -> bool:
        status = info.path.stat()
        start = 0
        if stored_state is not None:
            modified_ns, inode, read_to = stored_state
            if modified_ns == status.st_mtime_ns and inode == status.st_ino:
                return False
            if inode == status.st_ino and read_to <= status.st_size:
                start = read_to
            else:
                self._forget(info.id)
        self._connection.execute(
            "INSERT INTO session(id, path, modified_ns, inode, read_to) VALUES(?, ?, ?, ?, ?)"
            " ON CONFLICT(id) DO UPDATE SET path = excluded.path,"
            " modified_ns = excluded.modified_ns, inode = excluded.inode",
            (info.id, str(info.path), status.st_mtime_ns, status.st_ino, start),
        )
        end = start
        for line in read_forwards(info.path, start=start):
            if isinstance(line, Line):
                self._add(info.id, line)
            elif line.reason == "torn":
                break
            end = line.offset + 1
        # A last line without a newline is read again next time, as it may be incomplete.
        self._connection.execute(
            "UPDATE session SET read_to = ? WHERE id = ?", (_next_line(info.path, end), info.id)
        )
        return True

    def _add(self, session_id: str, line: Line) -> None:
        try:
            record = from_json(line.data)
        except UnreadableRecord:
            return
        match record:
            case SessionHeader():
                self._connection.execute(
                    "UPDATE session SET project_dir = ? WHERE id = ?",
                    (record.project_dir, session_id),
                )
            case TitleRecord():
                self._connection.execute(
                    "UPDATE session SET title = ? WHERE id = ?", (record.title, session_id)
                )
                self._insert(session_id, "title", record.title, line.offset)
            case PromptRecord():
                self._connection.execute(
                    "UPDATE session SET title = ? WHERE id = ? AND title = ''",
                    (record.text.strip().partition("\n")[0][:80], session_id),
                )
            case MessageRecord(agent_id=None):
                role = record.message.role
                if role == "assistant" or record.message.origin == "person":
                    self._insert(session_id, role, record.message.text, line.offset)
            case _:
                return

    def _insert(self, session_id: str, role: str, text: str, offset: int) -> None:
        # Half surrogate pairs cannot be stored.
        clean = text[:MAX_TEXT_CHARACTERS].encode(errors="replace").decode().strip()
        if clean:
            self._connection.execute(
                "INSERT INTO text(body, session_id, role, offset) VALUES(?, ?, ?, ?)",
                (clean, session_id, role, offset),
            )

    def _forget(self, session_id: str) -> None:
        self._connection.execute("DELETE FROM text WHERE session_id = ?", (session_id,))
        self._connection.execute("DELETE FROM session WHERE id = ?", (session_id,))


def search_all(
    sessions: Sequence[SessionInfo], words: str, *, cache_dir: Path, limit: int = 50
) -> tuple[SearchHit, ...]:
    """Search sessions with the index in a cache directory, or without it if it is unusable.

    Reads changed files: call it in a thread.
    """
    try:
        index = SessionIndex(cache_dir / "sessions.db")
        try:
            index.refresh(sessions)
            return index.search(words, limit=limit)
        finally:
            index.close()
    except (sqlite3.Error, OSError):
        return tuple(scan(sessions, words, limit=limit))


def scan(sessions: Iterable[SessionInfo], words: str, *, limit: int = 50) -> Iterator[SearchHit]:
    """Search without an index, which is slower; yields the newest session first."""
    word_list = words.casefold().split()
    if not word_list:
        return
    hits = (hit for info in sessions for hit in _hits_in(info, word_list))
    yield from islice(hits, limit)


def _hits_in(info: SessionInfo, word_list: Sequence[str]) -> Iterator[SearchHit]:
    project = ""
    with contextlib.suppress(OSError):
        for line in read_forwards(info.path):
            try:
                record = from_json(line.data) if isinstance(line, Line) else None
            except UnreadableRecord:
                continue
            if isinstance(record, SessionHeader):
                project = record.project_dir
            if not isinstance(record, MessageRecord) or record.agent_id is not None:
                continue
            text = record.message.text
            if all(word in text.casefold() for word in word_list):
                start = max(0, text.casefold().find(word_list[0]) - 40)
                role = record.message.role
                snippet = text[start : start + 120]
                yield SearchHit(info.id, info.path, project, "", role, snippet, line.offset)


def _query(words: str) -> str:
    """Return an FTS5 query of quoted words, so that nothing is an operator."""
    parts = ['"' + word.replace('"', '""') + '"' for word in words.replace("\0", " ").split()]
    return " ".join(parts) + "*" if parts else ""


def _next_line(path: Path, inside: int) -> int:
    """Return where the first line at or after a position starts; `inside` - 1 if none does."""
    if inside == 0:
        return 0
    with path.open("rb") as stream:
        stream.seek(inside - 1)
        line = stream.readline()
        return stream.tell() if line.endswith(b"\n") else inside - 1
