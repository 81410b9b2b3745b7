"""A session in an SQLite file, or in memory; the file format is that of the Agents SDK."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from agent.library.base.raw_items import InputItem, RawItem
from agent.library.sessions.item_session import SessionABC, SessionSettings, session_settings

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS {sessions} (
    session_id TEXT PRIMARY KEY,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS {messages} (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    message_data TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    FOREIGN KEY (session_id) REFERENCES {sessions} (session_id) ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS idx_{messages}_session_id ON {messages} (session_id, id);
"""


class SQLiteSession(SessionABC):
    """One conversation in an SQLite database."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        sessions_table: str = "agent_sessions",
        messages_table: str = "agent_messages",
        session_settings: SessionSettings | Mapping[str, RawItem] | None = None,
    ) -> None:
        """Open the database; the default one is in memory and ends with this object."""
        self.session_id = session_id
        self.session_settings = _settings(session_settings)
        self.db_path = db_path
        self.sessions_table = sessions_table
        self.messages_table = messages_table
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(str(db_path), check_same_thread=False, timeout=30)
        self._connection.execute("PRAGMA journal_mode = WAL")
        tables = _TABLES.format(sessions=sessions_table, messages=messages_table)
        self._connection.executescript(tables)
        self._is_closed = False

    async def get_items(self, limit: int | None = None) -> list[InputItem]:
        """Return the latest items, oldest first; invalid rows are skipped."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        return await asyncio.to_thread(self._get, limit)

    async def add_items(self, items: list[InputItem]) -> None:
        """Append items, all or none of them."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> InputItem | None:
        """Remove the latest item and return it."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Remove all items."""
        await asyncio.to_thread(self._clear)

    def close(self) -> None:
        """Close the database; later use of the session raises."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _get(self, limit: int | None) -> list[InputItem]:
        if limit is not None and limit <= 0:
            return []
        with self._lock:
            self._check_open()
            rows = self._connection.execute(
                f"SELECT message_data FROM {self.messages_table} "
                "WHERE session_id = ? ORDER BY id DESC",
                (self.session_id,),
            )
            items: list[InputItem] = []
            for (text,) in rows:
                item = _item(text)
                if item is not None:
                    items.append(item)
                if limit is not None and len(items) == limit:
                    break
        return items[::-1]

    def _add(self, items: list[InputItem]) -> None:
        with self._lock:
            self._check_open()
            if not items:
                return
            rows = [(self.session_id, json.dumps(item)) for item in items]
            with self._connection as connection:
                connection.execute(
                    f"INSERT OR IGNORE INTO {self.sessions_table} (session_id) VALUES (?)",
                    (self.session_id,),
                )
                connection.executemany(
                    f"INSERT INTO {self.messages_table} (session_id, message_data) VALUES (?, ?)",
                    rows,
                )
                connection.execute(
                    f"UPDATE {self.sessions_table} SET updated_at = CURRENT_TIMESTAMP "
                    "WHERE session_id = ?",
                    (self.session_id,),
                )

    def _pop(self) -> InputItem | None:
        with self._lock:
            self._check_open()
            while True:
                with self._connection as connection:
                    row = connection.execute(
                        f"DELETE FROM {self.messages_table} WHERE id = (SELECT id FROM "
                        f"{self.messages_table} WHERE session_id = ? ORDER BY id DESC LIMIT 1) "
                        "RETURNING message_data",
                        (self.session_id,),
                    ).fetchone()
                if row is None:
                    return None
                item = _item(row[0])
                if item is not None:
                    return item

    def _clear(self) -> None:
        with self._lock:
            self._check_open()
            with self._connection as connection:
                for table in (self.messages_table, self.sessions_table):
                    connection.execute(
                        f"DELETE FROM {table} WHERE session_id = ?", (self.session_id,)
                    )

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("SQLiteSession is closed")


def _settings(
    value: SessionSettings | Mapping[str, RawItem] | None,
) -> SessionSettings:
    return session_settings(value) or SessionSettings()


def _item(text: str) -> InputItem | None:
    try:
        item = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return item if isinstance(item, dict) else None
